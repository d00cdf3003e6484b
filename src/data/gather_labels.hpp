// Labels of several ranks.
#pragma once

#include "tamis/dataset.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// The labels of all ranks, those of a lower rank first. They are numbers everywhere or words
/// everywhere; a rank without rows has none.
Labels labels_of_all(const Labels& mine, Group& group);

}  // namespace tamis

// A group of threads in one process: how everything that runs on several ranks is tested.
#pragma once

#include <functional>

#include "tamis/group.hpp"

namespace tamis {

/// Calls work(group) on `size` threads, each a rank. Throws what a rank threw; the other ranks are
/// then let go with GroupFailure.
void run_as_group(int size, const std::function<void(Group&)>& work);

}  // namespace tamis

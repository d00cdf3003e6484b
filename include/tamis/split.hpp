// Splitting labeled rows into a training set and a test set.
#pragma once

#include <cstdint>

#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"

namespace tamis {

struct Split {
  Dataset train;
  Dataset test;
};

/// A random fraction of the rows for testing, stratified by class (Task::classification), the rest
/// for training. Rows of weight 0 are in neither. Throws InvalidArgument unless 0 < test_share < 1,
/// and DataError when a part would be empty or the data has no labels.
TAMIS_EXPORT Split split_dataset(const Dataset& data, double test_share, Task task,
                                 std::uint64_t seed = 1);

}  // namespace tamis

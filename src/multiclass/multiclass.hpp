// More than two classes from machines that know two.
#pragma once

#include <span>
#include <vector>

#include "svm/binary_task.hpp"

namespace tamis {

/// A machine for each pair (0,1), (0,2) .. (1,2) .., on the rows of the two classes; the first
/// class of the pair is +1. Tasks lie in `store`.
std::vector<BinaryResult> train_one_vs_one(std::span<const std::int32_t> class_of_row,
                                           Index num_classes, const BinaryTrainer& trainer,
                                           const RowStore& store = {});

/// A machine for each class, on all rows; the class itself is +1.
std::vector<BinaryResult> train_one_vs_rest(std::span<const std::int32_t> class_of_row,
                                            Index num_classes, const BinaryTrainer& trainer,
                                            const RowStore& store = {});

}  // namespace tamis

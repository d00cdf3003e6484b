// One binary SVM of the method linear: from rows of a training set to linear::Problem and back.
#pragma once

#include <cstdint>
#include <span>

#include "linear/solution.hpp"
#include "methods/common/method.hpp"
#include "qp/solver.hpp"
#include "svm/binary_task.hpp"
#include "svm/training_set.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// Stored values of some rows: what the number of blocks depends on (linear::num_blocks).
Index num_values(const Matrix& features, std::span<const Index> rows);

/// The block of a row, by mix() of its hash (hash_rows). It depends on the row's values alone, so
/// copies of a row are in one block, and the rows of all tasks are in the same ones.
Index block_of_row(std::uint64_t mixed_hash, Index blocks);

struct LinearSettings {
  /// 1: the problem is solved by the calling rank. More: by all ranks of `group`, each with the
  /// rows of its blocks; copies of a row are then one point.
  Index blocks = 1;
  Group* group = nullptr;
  bool copies_rows = true;  ///< the budget has room for a copy of the rows
  RowStore store = {};      ///< of the numbers for each row
};

linear::Solution solve_linear(const TrainingSet& set, const BinaryTask& task,
                              const LinearSettings& settings, const TrainContext& context,
                              const qp::StatusCallback& on_status);

BinaryResult linear_result(const linear::Solution& solution);

}  // namespace tamis

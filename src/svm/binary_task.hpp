// One two-class (or regression) problem as it is handed to a trainer, and what comes back.
// Multi-class wrappers make many of the first and put the second together.
#pragma once

#include <functional>
#include <vector>

#include "base/row_vector.hpp"
#include "svm/expansion_builder.hpp"
#include "tamis/report.hpp"

namespace tamis {

struct BinaryTask {
  RowVector<Index> rows;      ///< of the training matrix
  RowVector<double> targets;  ///< +1 or -1 (classes), or the numbers to learn; one a row
  Index index = 0;            ///< position among the machines of the model
  /// What the rows hold as one number each, all different (see qp::Problem::key); empty: their
  /// order is all there is.
  RowVector<std::uint64_t> keys;
};

/// A task without rows that has room for so many of them.
BinaryTask empty_task(Index index, Index rows, const RowStore& store);

/// How the training of one machine went; the fields mean what they mean in TrainReport.
struct MachineStats {
  double objective = 0;
  double gap = 0;
  double violation = 0;
  std::int64_t iterations = 0;
  std::int64_t kernel_evaluations = 0;
  std::int64_t cached_evaluations = 0;
  Index bounded_support_vectors = 0;
  StopReason stop_reason = StopReason::converged;  ///< ordered by how early they end
  std::int32_t no_padding = 0;                     ///< tasks and checkpoints hold this as bytes

  /// Adds another machine: sums, the largest violation, the earliest stop.
  void add(const MachineStats& other);
};
static_assert(sizeof(MachineStats) == 7 * 8 + sizeof(StopReason) + sizeof(std::int32_t));

/// What one rank did for a machine.
struct RankWork {
  Index rows = 0;
  std::int64_t kernel_evaluations = 0;
  std::int64_t blocks = 0;             ///< of all ranks together
  std::int64_t block_evaluations = 0;  ///< of the kernel evaluations, those among points of a block
  double block_seconds = 0;            ///< for the kernel values and the solution of the blocks

  void add(const RankWork& other);
};

struct BinaryResult {
  TrainedMachine machine;
  RowVector<double> sums;  ///< sum coefficient * K(its row, i) for every row i of the task
  MachineStats stats;
  RankWork own_work;  ///< on several ranks
};

/// For a task that time or the caller left no moment for: always the class with more rows, or the
/// mean of the numbers.
BinaryResult untrained(const BinaryTask& task, Task kind, StopReason stop);

using BinaryTrainer = std::function<BinaryResult(const BinaryTask&)>;

}  // namespace tamis

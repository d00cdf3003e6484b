#include "svm/binary_task.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/infinity.hpp"

namespace tamis {

BinaryTask empty_task(Index index, Index rows, const RowStore& store) {
  BinaryTask task{RowVector<Index>(store), RowVector<double>(store), index,
                  RowVector<std::uint64_t>(store)};
  task.rows.reserve(usize(rows));
  task.targets.reserve(usize(rows));
  return task;
}

void RankWork::add(const RankWork& other) {
  rows += other.rows;
  kernel_evaluations += other.kernel_evaluations;
  blocks += other.blocks;
  block_evaluations += other.block_evaluations;
  block_seconds += other.block_seconds;
}

void MachineStats::add(const MachineStats& other) {
  objective += other.objective;
  gap += other.gap;
  violation = std::max(violation, other.violation);
  iterations += other.iterations;
  kernel_evaluations += other.kernel_evaluations;
  cached_evaluations += other.cached_evaluations;
  bounded_support_vectors += other.bounded_support_vectors;
  stop_reason = std::max(stop_reason, other.stop_reason);
}

BinaryResult untrained(const BinaryTask& task, Task kind, StopReason stop) {
  const double sum = std::accumulate(task.targets.begin(), task.targets.end(), 0.0);
  BinaryResult result;
  if (kind == Task::classification)
    result.machine.offset = sum >= 0 ? 1 : -1;
  else if (!task.targets.empty())
    result.machine.offset = sum / static_cast<double>(task.targets.size());
  result.stats.stop_reason = stop;
  result.stats.gap = kInfinity;
  result.stats.violation = kInfinity;
  return result;
}

}  // namespace tamis

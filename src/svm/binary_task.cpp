#include "svm/binary_task.hpp"

#include <algorithm>

namespace tamis {

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

}  // namespace tamis

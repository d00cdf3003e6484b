// What the solvers of linear machines return.
#pragma once

#include <cstdint>
#include <vector>

#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"
#include "tamis/report.hpp"

namespace tamis::linear {

struct Solution {
  std::vector<double> weights;  ///< w, one a column
  double offset = 0;
  RowVector<double> beta;  ///< b, one a point (of this rank)
  double objective = 0;    ///< dual, as LIBLINEAR prints it
  double gap = 0;          ///< primal minus dual
  /// Largest minus smallest projected gradient, as LIBLINEAR's -e; free offset: also what the
  /// offset still moves.
  double violation = 0;
  std::int64_t epochs = 0;    ///< passes of coordinate descent, and steps of Newton's method
  Index support_vectors = 0;  ///< b != 0
  Index bounded_support_vectors = 0;
  StopReason stop_reason = StopReason::converged;
};

}  // namespace tamis::linear

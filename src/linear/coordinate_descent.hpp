// Dual coordinate descent for linear machines. C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi,
// S. Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008;
// regression: C.-H. Ho, C.-J. Lin, "Large-scale linear support vector regression", JMLR 13, 2012.
//
// One epoch visits every active coefficient once, in random order, and moves it to the minimum of
// the dual along itself; w follows. Coefficients that sit at a bound (or, for a tube, at 0) with a
// slope beyond the largest violation of the epoch before are left out, until the others have
// converged; then all are looked at again. Where columns or costs differ much in size, coordinates
// creep: once it has cost as much as an interior-point method would, that one takes over, and the
// descent goes on from its answer.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/problem.hpp"
#include "qp/solver.hpp"

namespace tamis::linear {

struct Solution {
  std::vector<double> weights;  ///< w, one a column
  double offset = 0;
  RowVector<double> beta;  ///< b, one a point
  double objective = 0;    ///< dual, as LIBLINEAR prints it
  double gap = 0;          ///< primal minus dual
  /// Largest minus smallest projected gradient, as LIBLINEAR's -e; free offset: also what the
  /// offset still moves.
  double violation = 0;
  std::int64_t epochs = 0;
  Index support_vectors = 0;  ///< b != 0
  Index bounded_support_vectors = 0;
  StopReason stop_reason = StopReason::converged;
};

/// `stop` counts epochs as iterations. Never throws for lack of convergence: the stop reason says
/// it. Runs on the caller's threads; the answer does not depend on their number.
Solution solve(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
               const qp::StatusCallback& on_status = {});

/// Bytes that solving for `points` points of `cols` columns needs beside the data: in memory
/// whatever the store of the problem, and numbers for each point, which may lie in scratch files.
Index memory_bytes(Index points, Index cols);
Index point_bytes(Index points, Index cols);

}  // namespace tamis::linear

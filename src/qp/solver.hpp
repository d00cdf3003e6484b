// The solver: block decomposition around the pair solver. See problem.hpp for what is solved.
//
// Large problems: choose a block of points, optimise it alone (pair_solver), add the change to F of
// all active points, repeat until the KKT gap is at most eps. Points that sit at a bound far from
// leaving it are put to rest, and checked again before the end (active_set). T. Joachims, "Making
// large-scale SVM learning practical", 1999; R.-E. Fan et al., 2005.
#pragma once

#include <functional>

#include "qp/problem.hpp"
#include "qp/row_source.hpp"
#include "qp/solver_state.hpp"
#include "qp/stopping.hpp"
#include "tamis/group.hpp"

namespace tamis::qp {

struct SolverOptions {
  Index block_size = 1024;  ///< points optimised together
  Index stored_size =
      2048;  ///< problems up to this size are solved on their full kernel matrix at once
  double first_share =
      0.2;  ///< large problems start with this share of their points and let violators join; 1: all
  std::uint64_t seed = 0;         ///< which points start
  StateKeeper* keeper = nullptr;  ///< of problems above stored_size; null: nobody
};

struct Solution {
  RowVector<double> beta;
  RowVector<double> sums;   ///< (K + diag(ridge)) beta
  double bias[2] = {0, 0};  ///< by group; the decision function of one group uses bias[0]
  double objective = 0;
  double duality_gap = 0;  ///< primal minus dual at this bias
  double violation = 0;    ///< KKT gap; at most eps when converged
  std::int64_t iterations = 0;
  std::int64_t blocks = 0;   ///< solved
  double block_seconds = 0;  ///< that they took this rank; the first one solves, the others wait
  StopReason stop_reason = StopReason::converged;
};

using StatusCallback = std::function<void(const Status&)>;

/// Never throws for lack of convergence: the stop reason says it.
Solution solve(const Problem& problem, RowSource& source, StopCheck& stop,
               const SolverOptions& options = {}, const StatusCallback& on_status = {});

/// The same with the points spread over the ranks of a group, in blocks however few they are. The
/// solution has the coefficients and sums of this rank's points; it is the same to the last bit on
/// any number of ranks, if problem.key is. All ranks must have the same limits, options and tube.
Solution solve_together(Group& group, const Problem& problem, RowSource& source, StopCheck& stop,
                        const SolverOptions& options = {}, const StatusCallback& on_status = {});

}  // namespace tamis::qp

// Newton's method for linear machines of many rows: every step is a few passes over the rows, whose
// sums are made in fixed blocks (block_sums.hpp), on all threads and all ranks.
//
// Squared losses: the primal objective has a derivative that is linear in pieces, and a Newton
// method ends after a few steps (O. Chapelle, "Training a support vector machine in the primal",
// Neural Computation 19, 2007). Otherwise the dual is solved by proximal steps,
//
//   b <- the minimum over b of  dual(b) + 1/2 sum of width / C_i (b_i - centre_i)^2,
//
// each of which has such a primal, with ramps of the given width in place of kinks; the centre then
// moves to b, and the width falls (R. T. Rockafellar, "Augmented Lagrangians and applications of
// the proximal point algorithm in convex programming", 1976; X. Li, D. Sun, K.-C. Toh, "A highly
// efficient semismooth Newton augmented Lagrangian method for solving Lasso problems", SIAM J.
// Optimization 28(1), 2018). Only rows on a ramp are part of the Newton system. It is solved by
// conjugate gradients, or by factoring where the columns are few and that is less work.
#pragma once

#include "linear/problem.hpp"
#include "linear/solution.hpp"
#include "qp/solver.hpp"

namespace tamis::linear {

/// Whether the method is for it: it has blocks, and no bound on w.
bool has_newton_method(const Problem& problem);

/// `stop` counts steps as iterations, after `done` of others. A stop reason of precision_limit says
/// that it got no further. All ranks of the problem's group call it.
Solution solve_newton(const Problem& problem, qp::StopCheck& stop, std::int64_t done,
                      const qp::StatusCallback& on_status);

/// Bytes it needs in addition to the data: in memory, and numbers for each point, which lie in the
/// store of the problem.
Index newton_bytes(Index cols);
Index newton_point_bytes(Index points);

}  // namespace tamis::linear

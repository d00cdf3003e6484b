// Dual coordinate descent for linear machines. C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi,
// S. Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008;
// regression: C.-H. Ho, C.-J. Lin, "Large-scale linear support vector regression", JMLR 13, 2012.
//
// One epoch visits every active coefficient once, in random order, and moves it to the minimum of
// the dual along itself; w follows. Coefficients that sit at a bound (or, for a tube, at 0) with a
// slope beyond the largest violation of the epoch before are left out, until the others have
// converged; then all are looked at again. The points of a block are visited in a random order, the
// blocks one after the other; on several ranks, w goes from one to the next.
//
// Where columns or costs differ much in size, coordinates converge slowly: once it has cost as much
// as an interior-point method would, that one takes over if the problem is one block, and the
// descent goes on from its answer. With several blocks, who called turns to Newton's method.
#pragma once

#include <cstdint>

#include "linear/problem.hpp"
#include "linear/solution.hpp"
#include "qp/solver.hpp"

namespace tamis::linear {

struct Descended {
  Solution solution;
  bool is_done = true;  ///< false: it took more than `most_epochs`
};

/// `stop` counts epochs as iterations. An epoch of few active points counts as the part of
/// `most_epochs` that it is. All ranks of the problem's group call it.
Descended descend(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
                  const qp::StatusCallback& on_status, double most_epochs);

/// Bytes it needs in addition to the data: in memory whatever the store of the problem, and numbers
/// for each point, which may lie in scratch files.
Index descent_bytes(Index points, Index cols);
Index descent_point_bytes(Index points, Index cols);

}  // namespace tamis::linear

// The solver of linear machines: coordinate descent for small problems, Newton's method for large
// ones of few columns, the first and then the second for large ones of many.
#pragma once

#include <cstdint>

#include "linear/problem.hpp"
#include "linear/solution.hpp"
#include "qp/solver.hpp"

namespace tamis::linear {

/// `stop` counts epochs and Newton steps as iterations. Never throws for lack of convergence: the
/// stop reason says it. Runs on the caller's threads; the answer depends neither on their number
/// nor on that of the ranks.
Solution solve(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
               const qp::StatusCallback& on_status = {});

/// Bytes that solving for `points` points of `cols` columns needs in addition to the data: in
/// memory whatever the store of the problem, and numbers for each point, which may lie in scratch
/// files.
Index memory_bytes(Index points, Index cols);
Index point_bytes(Index points, Index cols);

}  // namespace tamis::linear

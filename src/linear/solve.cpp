#include "linear/solve.hpp"

#include <algorithm>
#include <limits>

#include "linear/coordinate_descent.hpp"
#include "linear/newton.hpp"
#include "linear/newton_system.hpp"

namespace tamis::linear {
namespace {

// With many columns, most problems are solved by fewer epochs than a few Newton steps cost; those
// that are not converge slowly.
constexpr double kEpochsBeforeNewton = 50;
// Where rounding stopped Newton's method, coordinate descent may get a little further.
constexpr double kEpochsAfterNewton = 1000;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

Solution solve(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
               const qp::StatusCallback& on_status) {
  require_sound(problem);
  if (!has_newton_method(problem))
    return descend(problem, stop, seed, on_status, kNoLimit).solution;
  Problem next = problem;
  Solution solution;
  if (problem.features.cols() > kMostFactoredCols) {
    Descended first = descend(problem, stop, seed, on_status, kEpochsBeforeNewton);
    if (first.is_done) return first.solution;
    solution = std::move(first.solution);
    next.start = solution.beta;
  }
  Solution newton = solve_newton(next, stop, solution.epochs, on_status);
  if (newton.stop_reason != StopReason::precision_limit) return newton;
  stop.adopt_reason(StopReason::converged);
  next.start = newton.beta;
  Descended last = descend(next, stop, seed, on_status, kEpochsAfterNewton);
  if (!last.is_done) {
    last.solution.stop_reason = StopReason::precision_limit;
    last.solution.violation = std::max(last.solution.violation, newton.violation);
    stop.note_precision_limit();
  }
  last.solution.epochs += newton.epochs;
  return last.solution;
}

Index memory_bytes(Index points, Index cols) {
  return std::max(descent_bytes(points, cols), newton_bytes(cols));
}

Index point_bytes(Index points, Index cols) {
  return std::max(descent_point_bytes(points, cols), newton_point_bytes(points));
}

}  // namespace tamis::linear

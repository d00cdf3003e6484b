// Small problems whose answer has few free coefficients: an active-set method.
//
// Pairs converge slowly where the free points lie almost on a plane, as those of a margin in few
// dimensions do. Here all free coefficients move at once, by a Newton step on the face that the
// others' bounds leave: to its optimum, or to the first bound met, which then holds another
// coefficient; at the optimum of a face the coefficient that violates most is set free. J. Nocedal,
// S. Wright, "Numerical Optimization", 2nd ed., section 16.5; for hulls it is Wolfe's nearest-point
// algorithm.
#pragma once

#include <limits>
#include <optional>

#include "qp/problem.hpp"
#include "qp/row_source.hpp"
#include "qp/solver.hpp"
#include "qp/stopping.hpp"

namespace tamis::qp {

/// For problems of at most this many points: rows of free points are kept in double.
inline constexpr Index kFreeSetPoints = 2048;
/// Gives up beyond so many free coefficients: a step costs about their square, the first factor
/// their cube.
inline constexpr Index kMostFree = 512;

/// The multiplications that it takes, about, where most of the free coefficients go to a bound:
/// taking one from the factor and solving with it takes four times the square of their number. And
/// some sweeps over all points.
inline double free_set_work(Index points, Index free) {
  const auto count = static_cast<double>(free);
  return 1.5 * count * count * count + 20 * (count + 20) * static_cast<double>(points);
}

/// Begins at problem.start, which must be near enough to the answer for its free coefficients to be
/// mostly the right ones. Nothing when it gives up, after about `most_work` multiplications, or is
/// told to stop; `stop` is asked for limits and eps. The problem must have no tube.
std::optional<Solution> solve_free_set(const Problem& problem, RowSource& source, StopCheck& stop,
                                       double most_work = std::numeric_limits<double>::infinity());

}  // namespace tamis::qp

// Sequential minimal optimisation on a stored square of kernel values: the inner solver of every
// machine, and the whole solver of small ones.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "qp/problem.hpp"

namespace tamis::qp {

/// A part of a problem: some of its points, their kernel values among each other, and where they
/// stand.
struct SubProblem {
  std::span<const Index>
      points;             ///< those of group 0 first; kFiller where a place only fills up group 0
  Index group_split = 0;  ///< points before it are in group 0, the rest in group 1; a multiple of
                          ///< kPairPadding, or the size
  const float* kernel = nullptr;     ///< kernel[r * stride + c] = K(points[r], points[c]), with the
                                     ///< ridge on its diagonal
  Index stride = 0;                  ///< size rounded up to kPairPadding
  std::span<const double> diagonal;  ///< K_ii + ridge_i of the points
  std::span<const double> sums;      ///< F of the points, for the beta given
  std::span<double> beta;            ///< in: where to start; out: the answer
  std::function<void(Index)> need_row;  ///< called with k before row k of the kernel is read;
                                        ///< empty: all rows are there
};

/// Marks a place of SubProblem::points that only fills up a group.
inline constexpr Index kFiller = -1;

struct PairLimits {
  double tolerance = 1e-3;  ///< KKT gap within the part
  std::int64_t max_iterations = 0;
  /// Largest coefficient times float rounding stays far below the tolerance, so that float
  /// arithmetic is enough.
  bool single_precision = false;
};

struct PairResult {
  std::int64_t iterations = 0;
  double gap = 0;
};

PairResult solve_pairs(const Problem& problem, const SubProblem& part, const PairLimits& limits);

}  // namespace tamis::qp

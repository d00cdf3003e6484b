// The quadratic problem behind every machine of this library.
//
//   minimise    1/2 b'(K + diag(ridge)) b  -  t'b  +  tube |b|_1
//   subject to  lower_i <= b_i <= upper_i,   sum of b over each group = its initial value
//
// over signed coefficients b (beta in the comments). The signs of the classes live in the bounds,
// so that the solver needs no labels (y = +-1, C > 0, E = epsilon of the tube):
//
//   C-SVC, L1 slacks   t = y      lower/upper = [0, C] for y = +1, [-C, 0] for y = -1
//   C-SVC, L2 slacks   t = y      the same with C infinite, ridge = 1/(2C)
//   epsilon-SVR        t = target lower/upper = [-C, C], tube = E
//   reduced hulls / nu t = 0      [0, D] and [-D, 0], two groups (one a class) with sums +1 and -1
//
// The decision function of the answer is f(x) = sum b_i K(x_i, x) + bias, where bias is the
// multiplier of the sum.
#pragma once

#include <cstdint>
#include <vector>

#include "base/infinity.hpp"
#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"

namespace tamis::qp {

/// A point of any rank: who has it, and its number there.
struct PointName {
  std::int32_t owner = 0;
  std::int32_t unused = 0;  // so that no byte of a message is undefined
  Index point = 0;          ///< below 2^40
  bool operator==(const PointName&) const = default;
  std::uint64_t as_number() const {
    return static_cast<std::uint64_t>(owner) << 40 | static_cast<std::uint64_t>(point);
  }
};

/// On several ranks, the part of the problem whose points this rank has.
struct Problem {
  RowVector<double> target;         ///< t
  RowVector<double> lower;          ///< may be -infinity
  RowVector<double> upper;          ///< may be +infinity
  RowVector<double> ridge;          ///< added to the diagonal of K; empty: none
  double tube = 0;                  ///< >= 0
  std::vector<std::uint8_t> group;  ///< 0 or 1; empty: all 0
  std::vector<double> start;        ///< a feasible beta; empty: zeros
  std::vector<double> start_sums;   ///< K start, if somebody knows it; empty: it is computed

  /// The order of the points among those of all ranks, each its own number; empty: in the order
  /// given. Whatever must be decided between equals, or added up in some order, follows it, so that
  /// the answer depends neither on where points lie nor on who has them.
  RowVector<std::uint64_t> key;

  Index size() const { return static_cast<Index>(target.size()); }
  std::uint64_t key_at(Index i) const {
    return key.empty() ? static_cast<std::uint64_t>(i) : key[static_cast<std::size_t>(i)];
  }
  double ridge_at(Index i) const {
    return ridge.empty() ? 0.0 : ridge[static_cast<std::size_t>(i)];
  }
  int group_at(Index i) const { return group.empty() ? 0 : group[static_cast<std::size_t>(i)]; }
  int num_groups() const { return group.empty() ? 1 : 2; }
};

/// One coordinate as the solver sees it. With F = (K + diag(ridge)) beta, the objective falls when
/// beta_i grows while its `up score` exceeds some other's `down score` of the same group, at the
/// rate of the difference:
///   up score = t - F - tube sign(beta from above), -inf at the upper bound
///   down score = t - F - tube sign(beta from below), +inf at the lower bound
/// A point is optimal when the largest up score is at most the smallest down score; eps bounds the
/// excess (the KKT gap).
struct Slopes {
  double up = 0;    ///< up score + F
  double down = 0;  ///< down score + F
};

inline Slopes slopes_at(const Problem& problem, Index i, double beta) {
  const auto k = static_cast<std::size_t>(i);
  Slopes slopes;
  slopes.up = beta < problem.upper[k]
                  ? problem.target[k] - (beta < 0 ? -problem.tube : problem.tube)
                  : -kInfinity;
  slopes.down = beta > problem.lower[k]
                    ? problem.target[k] - (beta > 0 ? problem.tube : -problem.tube)
                    : kInfinity;
  return slopes;
}

}  // namespace tamis::qp

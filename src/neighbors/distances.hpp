// What "the" distance of two rows is. One of two float32 computations, chosen by metric and points:
//
//   differences   sum over features in order of (x_j - z_j)^2. For the Euclidean, linear and RBF
//                 metrics on rows held dense.
//   kernel form   max(0, (K(x,x) + K(z,z)) - 2 K(x,z)), K as the block code computes it, also on
//   the
//                 diagonal, so that a row is at distance 0 of itself. For the other kernels; and
//                 with the inner product as K for Euclidean distances of rows held sparse.
//
// Neither depends on the structure that asks, on which of the rows is the query, or on what else is
// computed beside it. The RBF kernel's distance 2 - 2 exp(-gamma |x - z|^2) grows with the
// Euclidean one: rows are ordered by the latter, and distances changed where they are reported.
//
// Sparse rows of few columns or with many values are held dense: faster, and differences are exact
// where norms would cancel.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/kernel_blocks.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// What squares may lose below float32's normal range, far above the number of features there can
/// be times 2^-149.
inline constexpr double kSmallestDistance = 1e-37;

/// Whether sparse points of which `stored` values are stored are held dense.
bool better_dense(Index stored, Index rows, Index cols);

/// A metric settled for the points it is used on.
class Space {
 public:
  /// Throws DataError if K(x, x) of a point is not a finite float, InvalidArgument if there are
  /// more points than 32-bit row numbers.
  Space(const Metric& metric, const Matrix& points);

  /// The same distance over some of the points, in the given order.
  std::shared_ptr<const Space> of_points(std::span<const Index> rows) const;

  /// The points, held dense where that is better.
  const Matrix& points() const { return points_; }
  /// Distances are summed from differences: boxes bound them.
  bool uses_differences() const { return !kernel_; }
  /// The triangle inequality holds up to rounding. Not known of a sigmoid, a precomputed kernel or
  /// a polynomial with negative coef0, which need not be positive semidefinite.
  bool is_metric() const { return is_metric_; }

  /// Rows stored like the points.
  bool like_points(const Matrix& rows) const { return rows.is_sparse() == points_.is_sparse(); }
  Matrix stored_like_points(const Matrix& rows) const;

  /// K(x, x) of rows stored like the points; empty where distances come from differences. Throws
  /// DataError if a value is not finite.
  std::vector<float> self_values(const Matrix& matrix, std::span<const Index> rows) const;

  /// The distance computed, from and to the one reported.
  float reported(float squared) const;
  float internal_limit(double squared_radius) const;

  /// The computed squared distance d of two rows differs from the exact one by at most
  /// relative * d + absolute * max(K(x,x), K(z,z)).
  double relative_error() const { return relative_error_; }
  double absolute_error() const { return absolute_error_; }

  KernelBlocks blocks(std::span<const Index> order) const;

 private:
  std::optional<Kernel> kernel_;  // empty: differences
  std::optional<double> rbf_gamma_;
  bool is_metric_ = true;
  double relative_error_ = 0;
  double absolute_error_ = 0;
  Matrix points_;
};

/// Distances to the points of a space, in a given order.
class Distances {
 public:
  /// An empty order: as they are.
  explicit Distances(const Space& space, std::span<const Index> order = {});

  /// out[r * stride + c - begin] = squared distance of row rows[r] of `matrix` and point c; sizes
  /// as for KernelBlocks::evaluate. `self` are K(x, x) of these rows, or empty.
  void evaluate(const Matrix& matrix, std::span<const Index> rows, std::span<const float> self,
                Index begin, Index end, float* out, Index stride) const;

  /// K(c, c) of the points; empty where distances come from differences.
  std::span<const float> self() const { return self_; }
  Index size_bytes() const;

 private:
  KernelBlocks blocks_;
  std::vector<float> self_;
};

/// Squared distances of one point of a space to all of them.
std::vector<float> distances_from(const Space& space, Index point, const RunControl& control);

}  // namespace tamis

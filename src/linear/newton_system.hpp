// The linear systems of Newton's method: (I + sum of give_i z_i z_i') x = -gradient, over the rows
// on a ramp; z is a row with the bias column. A free offset has no 1 in its place.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/cholesky.hpp"
#include "linear/block_sums.hpp"
#include "linear/outer_products.hpp"
#include "linear/problem.hpp"
#include "linear/rows.hpp"
#include "qp/stopping.hpp"

namespace tamis::linear {

inline constexpr Index kMostFactoredCols = 500;

/// A point that is part of the system.
struct RampPoint {
  Index point = 0;
  double give = 0;
};

template <typename Rows>
class NewtonSystem {
 public:
  NewtonSystem(const Rows& rows, const BlockSums& sums, const Problem& problem,
               const qp::StopCheck& stop)
      : rows_(rows),
        sums_(sums),
        problem_(problem),
        stop_(stop),
        cols_(usize(problem.features.cols())),
        size_(cols_ + (problem.bias.rule == Bias::Rule::none ? 0 : 1)),
        is_free_(problem.bias.rule == Bias::Rule::free) {
    const std::vector<double> totals = sums_.sum(3, [&](Index begin, Index end, double* out) {
      for (Index i = begin; i < end; ++i) {
        out[0] += rows_.squared_norm(place(i));
        out[1] += static_cast<double>(place(i).length);
      }
      out[2] += static_cast<double>(end - begin);
    });
    points_ = static_cast<Index>(totals[2]);
    mean_norm_ = totals[0] > 0 ? totals[0] / totals[2] : 1;
    values_a_row_ = totals[1] / std::max(1.0, totals[2]) + (has_bias() ? 1 : 0);
  }

  std::size_t size() const { return size_; }
  bool has_bias() const { return size_ > cols_; }
  double bias_column() const { return is_free_ ? 1 : problem_.bias.value; }
  double mean_norm() const { return mean_norm_; }
  Index num_free() const { return num_free_; }
  Index points() const { return points_; }
  Place place(Index i) const { return rows_.place(problem_.copies_rows ? i : problem_.row(i)); }

  /// `ramp` is ascending. The answer of conjugate gradients is one to a tenth of the gradient.
  std::vector<double> solve(std::span<const RampPoint> ramp, const std::vector<double>& gradient) {
    const std::vector<double> diagonal = diagonal_of(ramp);
    const bool can_factor = cols_ <= usize(kMostFactoredCols);
    int limit = kMostIterations;
    if (can_factor) limit = is_hard_ ? 0 : std::min(limit, iterations_worth_factoring());
    if (limit >= kFewIterations) {
      std::vector<double> x = conjugate_gradients(ramp, gradient, diagonal, limit);
      if (!x.empty()) return x;
      is_hard_ = can_factor;
    }
    return factor(ramp, gradient, diagonal);
  }

 private:
  static constexpr int kMostIterations = 250;
  static constexpr int kFewIterations = 8;
  static constexpr double kTolerance = 0.1;
  static constexpr Index kRowsBetweenChecks = 256;  // 10 milliseconds with the most columns

  // Calls body(place, give) for the points of [begin, end), while there is time.
  template <typename Body>
  void each(std::span<const RampPoint> ramp, Index begin, Index end, const Body& body) const {
    const auto before = [](const RampPoint& p, Index i) { return p.point < i; };
    const auto first = std::lower_bound(ramp.begin(), ramp.end(), begin, before);
    const auto last = std::lower_bound(first, ramp.end(), end, before);
    Index left = kRowsBetweenChecks;
    for (auto at = first; at != last; ++at) {
      if (--left == 0) {
        if (stop_.interrupted()) return;  // the sum is not looked at
        left = kRowsBetweenChecks;
      }
      body(place(at->point), at->give);
    }
  }

  std::vector<double> diagonal_of(std::span<const RampPoint> ramp) {
    std::vector<double> diagonal = sums_.sum(
        size_ + 1,
        [&](Index begin, Index end, double* out) {
          each(ramp, begin, end, [&](const Place& place, double give) {
            rows_.add_squares(place, give, out);
            if (has_bias()) out[cols_] += give * bias_column() * bias_column();
            out[size_] += 1;
          });
        },
        work_of(ramp));
    num_free_ = static_cast<Index>(diagonal.back());
    diagonal.pop_back();
    for (std::size_t j = 0; j < size_; ++j) {
      if (j < cols_ || !is_free_) diagonal[j] += 1;
    }
    if (is_free_ && !(diagonal.back() > 0)) diagonal.back() = 1;
    return diagonal;
  }

  double work_of(std::span<const RampPoint> ramp) const {
    return static_cast<double>(ramp.size()) * values_a_row_;
  }

  // Multiplications of an iteration, and of forming and factoring the matrix.
  int iterations_worth_factoring() const {
    const auto rows = static_cast<double>(num_free_);
    const auto blocks = static_cast<double>(sums_.blocks());
    const auto size = static_cast<double>(size_);
    const double factoring = size * size * size / 6 + rows * values_a_row_ * values_a_row_ / 2 +
                             blocks * size * size / 2;
    const double iteration = 2 * rows * values_a_row_ + (blocks + 5) * size;
    return static_cast<int>(std::min<double>(factoring / iteration, kMostIterations));
  }

  std::vector<double> multiply(std::span<const RampPoint> ramp,
                               const std::vector<double>& x) const {
    std::vector<double> product = sums_.sum(
        size_,
        [&](Index begin, Index end, double* out) {
          each(ramp, begin, end, [&](const Place& place, double give) {
            double value = rows_.dot(place, x.data());
            if (has_bias()) value += x[cols_] * bias_column();
            rows_.add(place, give * value, out);
            if (has_bias()) out[cols_] += give * value * bias_column();
          });
        },
        2 * work_of(ramp));
    for (std::size_t j = 0; j < size_; ++j) {
      if (j < cols_ || !is_free_) product[j] += x[j];
    }
    return product;
  }

  // Nothing when the limit is too low.
  std::vector<double> conjugate_gradients(std::span<const RampPoint> ramp,
                                          const std::vector<double>& gradient,
                                          const std::vector<double>& diagonal, int limit) const {
    std::vector<double> x(size_, 0.0);
    std::vector<double> residual(size_);
    std::vector<double> scaled(size_);
    for (std::size_t j = 0; j < size_; ++j) residual[j] = -gradient[j];
    const auto rescale = [&] {
      for (std::size_t j = 0; j < size_; ++j) scaled[j] = residual[j] / diagonal[j];
      return dot(residual.data(), scaled.data(), size_);
    };
    double product = rescale();
    const double goal = kTolerance * kTolerance * product;
    std::vector<double> way = scaled;
    for (int k = 0; k < limit && product > goal; ++k) {
      const std::vector<double> image = multiply(ramp, way);
      const double length = product / dot(way.data(), image.data(), size_);
      if (!std::isfinite(length)) break;
      for (std::size_t j = 0; j < size_; ++j) {
        x[j] += length * way[j];
        residual[j] -= length * image[j];
      }
      const double before = product;
      product = rescale();
      for (std::size_t j = 0; j < size_; ++j) way[j] = scaled[j] + product / before * way[j];
    }
    if (product > goal && limit < kMostIterations) return {};
    return x;
  }

  std::vector<double> factor(std::span<const RampPoint> ramp, const std::vector<double>& gradient,
                             const std::vector<double>& diagonal) const {
    std::vector<double> matrix = sums_.sum(size_ * size_, [&](Index begin, Index end, double* out) {
      add_products(ramp, begin, end, out);
    });
    // Scaled so that the diagonal is 1.
    std::vector<double> scale(size_);
    for (std::size_t j = 0; j < size_; ++j) {
      matrix[j * size_ + j] = diagonal[j];
      scale[j] = 1 / std::sqrt(diagonal[j]);
    }
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k <= j; ++k) matrix[j * size_ + k] *= scale[j] * scale[k];
    }
    std::vector<double> right(size_);
    for (std::size_t j = 0; j < size_; ++j) right[j] = -scale[j] * gradient[j];
    Cholesky cholesky;
    // Columns that depend on each other may leave a matrix that is none within rounding.
    for (double more = 0; more < 1; more = std::max(1e-12, 100 * more)) {
      std::vector<double> trial = matrix;
      for (std::size_t j = 0; j < size_; ++j) trial[j * size_ + j] += more;
      if (!cholesky.factor(std::move(trial), size_)) continue;
      right = cholesky.solve(std::move(right));
      break;
    }
    for (std::size_t j = 0; j < size_; ++j) right[j] *= scale[j];
    return right;
  }

  void add_products(std::span<const RampPoint> ramp, Index begin, Index end, double* out) const {
    if constexpr (Rows::kIsDense) {
      std::vector<double> block(kRowsAtOnce * size_, 0.0);
      std::size_t filled = 0;
      const auto flush = [&] {
        add_outer_products(block.data(), size_, out);
        std::fill(block.begin(), block.end(), 0.0);
        filled = 0;
      };
      each(ramp, begin, end, [&](const Place& place, double give) {
        double* z = &block[filled * size_];
        const double root = std::sqrt(give);
        rows_.add(place, root, z);
        if (has_bias()) z[cols_] = root * bias_column();
        if (++filled == kRowsAtOnce) flush();
      });
      if (filled > 0) flush();
    } else {
      each(ramp, begin, end, [&](const Place& place, double give) {
        rows_.add_outer_product(place, give, size_, out);
        if (!has_bias()) return;
        rows_.add(place, give * bias_column(), out + cols_ * size_);
      });
    }
  }

  const Rows& rows_;
  const BlockSums& sums_;
  const Problem& problem_;
  const qp::StopCheck& stop_;
  std::size_t cols_;
  std::size_t size_;
  bool is_free_;
  Index points_ = 0;  // of all ranks
  double mean_norm_ = 1;
  double values_a_row_ = 1;
  Index num_free_ = 0;
  bool is_hard_ = false;  // conjugate gradients took more work than factoring once
};

}  // namespace tamis::linear

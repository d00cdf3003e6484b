// Plain double-precision twins of what src/qp does cleverly: a stored matrix, a slow solver that
// cannot be wrong by much, and a check of optimality. Nothing here calls src/qp; only its two plain
// interfaces, Problem and RowSource, are used.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/kernel_value.hpp"
#include "qp/problem.hpp"
#include "qp/row_source.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {

/// A symmetric matrix of doubles.
struct Gram {
  Index size = 0;
  std::vector<double> values;
  double at(Index i, Index j) const { return values[usize(i * size + j)]; }
  std::vector<double> times(std::span<const double> b) const {
    std::vector<double> result(usize(size), 0.0);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) result[usize(i)] += at(i, j) * b[usize(j)];
    }
    return result;
  }
};

inline Gram gram(const Kernel& kernel, const Matrix& data) {
  Gram result{data.rows(), {}};
  for (Index i = 0; i < data.rows(); ++i) {
    for (Index j = 0; j < data.rows(); ++j)
      result.values.push_back(kernel_value(kernel, data, i, data, j));
  }
  return result;
}

/// The matrix as a solver sees it, rounded to float once so that every way to read it agrees.
class StoredGram : public qp::RowSource {
 public:
  explicit StoredGram(Gram k) : k_(std::move(k)), active_(iota_rows(k_.size)) {
    for (double& value : k_.values) value = static_cast<double>(static_cast<float>(value));
    for (Index i = 0; i < k_.size; ++i) diagonal_.push_back(k_.at(i, i));
  }
  const Gram& matrix() const { return k_; }
  /// accumulate() gives up from this call on; negative: never.
  int stop_at_call = -1;
  std::function<void()> on_stop;  ///< called when it gives up

  Index size() const override { return k_.size; }
  std::span<const double> diagonal() const override { return diagonal_; }
  void square(std::span<const Index> points, float* block, Index stride) override {
    std::fill_n(block, points.size() * usize(stride), 0.0F);
    for (std::size_t r = 0; r < points.size(); ++r) {
      for (std::size_t c = 0; c < points.size(); ++c)
        block[r * usize(stride) + c] = static_cast<float>(k_.at(points[r], points[c]));
    }
  }
  /// rest_of_square() leaves alone what is known; it counts the points of which something is.
  bool marks_known = false;
  Index known_points = 0;
  void rest_of_square(std::span<const Index> points, Index known, float* block,
                      Index stride) override {
    if (!marks_known) return square(points, block, stride);
    known_points += known;
    const Index size = static_cast<Index>(points.size());
    for (Index r = 0; r < size; ++r) {
      for (Index c = 0; c < size; ++c) {
        if (r < size - known || c < size - known)
          block[r * stride + c] = static_cast<float>(k_.at(points[usize(r)], points[usize(c)]));
      }
    }
  }
  bool precise_square(std::span<const Index> points, float* block, float* rest,
                      Index stride) override {
    square(points, block, stride);
    for (std::size_t r = 0; r < points.size(); ++r) {
      for (std::size_t c = 0; c < points.size(); ++c) {
        const std::size_t at = r * usize(stride) + c;
        rest[at] = static_cast<float>(k_.at(points[r], points[c]) - static_cast<double>(block[at]));
      }
    }
    return true;
  }
  bool precise_rows(std::span<const Index> points, double* values) override {
    for (std::size_t r = 0; r < points.size(); ++r) {
      for (Index c = 0; c < k_.size; ++c)
        values[r * usize(k_.size) + usize(c)] = k_.at(points[r], c);
    }
    return true;
  }
  void set_active(std::span<const Index> points) override {
    active_.assign(points.begin(), points.end());
  }
  bool accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                  std::span<double> sums) override {
    return accumulate_at(active_, rows, coefficients, sums);
  }
  bool accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                     std::span<const double> coefficients, std::span<double> sums) override {
    if (stop_at_call >= 0 && calls_++ >= stop_at_call) {
      if (on_stop) on_stop();
      for (double& sum : sums) sum = 12345;  // unusable, as the interface allows
      return false;
    }
    for (std::size_t p = 0; p < points.size(); ++p) {
      for (std::size_t r = 0; r < rows.size(); ++r)
        sums[p] += coefficients[r] * k_.at(rows[r], points[p]);
    }
    return true;
  }

 private:
  Gram k_;
  std::vector<double> diagonal_;
  std::vector<Index> active_;
  int calls_ = 0;
};

inline double naive_objective(const qp::Problem& p, const Gram& k, std::span<const double> b) {
  const std::vector<double> f = k.times(b);
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double ridge = p.ridge.empty() ? 0 : p.ridge[i];
    sum += b[i] * (f[i] + ridge * b[i]) / 2 - p.target[i] * b[i] + p.tube * std::abs(b[i]);
  }
  return sum;
}

/// Largest breach of a bound or of a group's sum.
inline double infeasibility(const qp::Problem& p, std::span<const double> b) {
  double worst = 0;
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < b.size(); ++i) {
    worst = std::max({worst, p.lower[i] - b[i], b[i] - p.upper[i]});
    sums[p.group.empty() ? 0 : p.group[i]] += b[i] - (p.start.empty() ? 0 : p.start[i]);
  }
  return std::max({worst, std::abs(sums[0]), std::abs(sums[1])});
}

/// The steepest descent left: the largest rate at which the objective falls when weight moves from
/// some j to some i of the same group. Taken from one-sided derivatives.
inline double kkt_violation(const qp::Problem& p, const Gram& k, std::span<const double> b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> f = k.times(b);
  double best_up[2] = {-kInfinity, -kInfinity};
  double best_down[2] = {-kInfinity, -kInfinity};
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double ridge = p.ridge.empty() ? 0 : p.ridge[i];
    const double gradient = f[i] + ridge * b[i] - p.target[i];
    const int g = p.group.empty() ? 0 : p.group[i];
    const double growing = gradient + (b[i] >= 0 ? p.tube : -p.tube);
    const double shrinking = -gradient + (b[i] <= 0 ? p.tube : -p.tube);
    if (b[i] < p.upper[i]) best_up[g] = std::max(best_up[g], -growing);
    if (b[i] > p.lower[i]) best_down[g] = std::max(best_down[g], -shrinking);
  }
  return std::max({0.0, best_up[0] + best_down[0], best_up[1] + best_down[1]});
}

/// Objective minus the Lagrangian bound that the multipliers `bias` give: never negative, zero only
/// at the optimum. Infinite when a point without upper limit and ridge misses its margin.
inline double naive_gap(const qp::Problem& p, const Gram& k, std::span<const double> b,
                        const double* bias) {
  const std::vector<double> f = k.times(b);
  double primal = 0;
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < b.size(); ++i) {
    const int g = p.group.empty() ? 0 : p.group[i];
    sums[g] += b[i];
    const double miss = p.target[i] - f[i] - bias[g];
    const double slack[2] = {std::max(0.0, miss - p.tube), std::max(0.0, -miss - p.tube)};
    const double limit[2] = {p.upper[i], -p.lower[i]};
    const double ridge = p.ridge.empty() ? 0 : p.ridge[i];
    primal += b[i] * f[i] / 2;
    for (int side = 0; side < 2; ++side) {
      if (slack[side] == 0 || limit[side] == 0) continue;
      // max over 0 <= b <= limit of slack b - ridge b^2 / 2
      const double best = ridge > 0 ? std::min(limit[side], slack[side] / ridge) : limit[side];
      primal += slack[side] * best - ridge * best * best / 2;
    }
  }
  return naive_objective(p, k, b) + primal + bias[0] * sums[0] + bias[1] * sums[1];
}

/// Every pair in turn, each to its exact minimum (all kinks and bounds tried), until a whole sweep
/// gains nothing. For a dozen points.
inline std::vector<double> naive_solve(const qp::Problem& p, const Gram& k, int sweeps = 20000) {
  const Index n = p.size();
  std::vector<double> b = on_heap(p.start);
  b.resize(usize(n), 0.0);
  std::vector<double> f = k.times(b);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    double moved = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) {
        if (p.group_at(i) != p.group_at(j)) continue;
        const double bi = b[usize(i)];
        const double bj = b[usize(j)];
        const double q = k.at(i, i) + k.at(j, j) - 2 * k.at(i, j) + p.ridge_at(i) + p.ridge_at(j);
        const double slope = f[usize(i)] + p.ridge_at(i) * bi - p.target[usize(i)] -
                             (f[usize(j)] + p.ridge_at(j) * bj - p.target[usize(j)]);
        const double low = std::max(p.lower[usize(i)] - bi, bj - p.upper[usize(j)]);
        const double high = std::min(p.upper[usize(i)] - bi, bj - p.lower[usize(j)]);
        const auto value = [&](double s) {
          return q * s * s / 2 + slope * s + p.tube * (std::abs(bi + s) + std::abs(bj - s));
        };
        std::vector<double> tries{low, high, -bi, bj};
        for (const double kink : {-2 * p.tube, 0.0, 2 * p.tube}) {
          if (q > 0) tries.push_back((-slope + kink) / q);
        }
        double best = 0;
        for (const double s : tries) {
          if (!std::isfinite(s)) continue;
          const double inside = std::clamp(s, low, high);
          if (value(inside) < value(best)) best = inside;
        }
        if (best == 0) continue;
        b[usize(i)] += best;
        b[usize(j)] -= best;
        for (Index r = 0; r < n; ++r) f[usize(r)] += best * (k.at(r, i) - k.at(r, j));
        moved = std::max(moved, std::abs(best));
      }
    }
    if (moved < 1e-13) break;
  }
  return b;
}

/// The problems of problem.hpp, from labels.
inline qp::Problem svc_problem(const std::vector<double>& y, const std::vector<double>& cost) {
  qp::Problem p;
  p.target.assign(y.begin(), y.end());
  for (std::size_t i = 0; i < y.size(); ++i) {
    p.upper.push_back(y[i] > 0 ? cost[i] : 0);
    p.lower.push_back(y[i] > 0 ? 0 : -cost[i]);
  }
  return p;
}
inline qp::Problem svc_problem(const std::vector<double>& y, double cost) {
  return svc_problem(y, std::vector<double>(y.size(), cost));
}
inline qp::Problem l2_problem(const std::vector<double>& y, double cost) {
  qp::Problem p = svc_problem(y, std::numeric_limits<double>::infinity());
  p.ridge.assign(y.size(), 1 / (2 * cost));
  return p;
}
inline qp::Problem svr_problem(const std::vector<double>& z, double cost, double tube) {
  qp::Problem p;
  p.target.assign(z.begin(), z.end());
  p.upper.assign(z.size(), cost);
  p.lower.assign(z.size(), -cost);
  p.tube = tube;
  return p;
}
/// Reduced hulls; starts at the means of the classes.
inline qp::Problem hull_problem(const std::vector<double>& y, double limit) {
  qp::Problem p = svc_problem(y, limit);
  p.target.assign(y.size(), 0.0);
  const auto positives =
      static_cast<double>(std::count_if(y.begin(), y.end(), [](double v) { return v > 0; }));
  for (const double label : y) {
    p.group.push_back(label > 0 ? 0 : 1);
    p.start.push_back(label > 0 ? 1 / positives : -1 / (static_cast<double>(y.size()) - positives));
  }
  return p;
}

}  // namespace tamis::testing

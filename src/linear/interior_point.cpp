#include "linear/interior_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/cholesky.hpp"
#include "base/infinity.hpp"
#include "base/parallel.hpp"
#include "linear/outer_products.hpp"
#include "linear/rows.hpp"

namespace tamis::linear {
namespace {

constexpr Index kMostCols = 500;
constexpr Index kMostPoints = 1'000'000;
constexpr int kMostSteps = 300;
constexpr double kTypicalSteps = 40;
constexpr Index kChunks = 8;        // sums are added up chunk by chunk, for any number of threads
constexpr Index kLeastChunk = 512;  // points
constexpr int kCorrections = 3;
constexpr double kStepShare = 0.995;  // of the way to the nearest bound
// Least curvature of a coefficient, relative to |x|^2: it keeps the normal equations regular when
// many points are free. It shortens steps, and moves no optimum.
constexpr double kLeastCurvature = 1e-13;

/// A coefficient >= 0: that of a point of a class, or one side of a point's tube (b = up - down).
///
///   minimise over a:  1/2 |sum of sign a z|^2 + 1/2 ridge a^2 + slope a,   0 <= a <= upper
///
/// with multipliers: gradient - at_zero + at_upper = 0, a at_zero = 0, room at_upper = 0.
struct Side {
  double sign = 1;
  double slope = 0;
  double ridge = 0;
  double upper = kInfinity;
  double a = 0;
  double room = 1;  ///< upper - a, kept apart: near the bound the difference would lose its digits
  double at_zero = 0;
  double at_upper = 0;
  double residual = 0;  ///< gradient - at_zero + at_upper
  double curvature = 0;
  // One step, and what it would make of the products.
  double low_goal = 0;
  double high_goal = 0;
  double da = 0;
  double dat_zero = 0;
  double dat_upper = 0;

  bool bounded() const { return upper < kInfinity; }
  /// Sum of the products that vanish at the optimum, `share` of a step ahead.
  double complementarity(double share) const {
    const double low = (a + share * da) * (at_zero + share * dat_zero);
    return bounded() ? low + (room - share * da) * (at_upper + share * dat_upper) : low;
  }
};

template <typename Rows>
class InteriorPoint {
 public:
  InteriorPoint(const Problem& problem, const qp::StopCheck& stop)
      : problem_(problem),
        stop_(stop),
        rows_(problem.features),
        cols_(usize(problem.features.cols())),
        size_(cols_ + (problem.bias.rule == Bias::Rule::none ? 0 : 1)),
        sides_a_point_(problem.task == Task::regression ? 2 : 1),
        chunk_(round_up(std::max(kLeastChunk, (problem.size() + kChunks - 1) / kChunks),
                        kRowsBetweenChecks)),
        sides_(problem.store) {}

  std::optional<InteriorSolution> run() {
    start();
    for (int step = 0; step < kMostSteps; ++step) {
      keep_if_best();
      if (best_ && best_->violation <= stop_.limits().eps / 2) break;
      const bool factored = factor_normal_equations();
      if (stop_.interrupted()) return std::nullopt;
      if (!factored) break;
      const double length = find_way();
      if (!(length > kNoStep)) break;
      take_step(length);
      measure();
    }
    return best_;
  }

 private:
  static constexpr double kNoStep = 1e-10;
  static constexpr Index kRowsBetweenChecks = 256;  // 10 milliseconds with the most columns

  bool is_free() const { return problem_.bias.rule == Bias::Rule::free; }
  double bias_column() const { return is_free() ? 1 : problem_.bias.value; }
  Place place(Index i) const { return rows_.place(problem_.row(i)); }
  std::size_t point(std::size_t side) const { return side / sides_a_point_; }

  // body(chunk, begin, end) for all points.
  template <typename Body>
  void each_chunk(const Body& body) const {
    const Index chunks = (problem_.size() + chunk_ - 1) / chunk_;
    parallel_each(chunks, [&](Index c) {
      body(usize(c), c * chunk_, std::min((c + 1) * chunk_, problem_.size()));
    });
  }

  /// x'z of every point; z is its row, and the bias column if there is one.
  RowVector<double> multiply(const std::vector<double>& x) const {
    const double last = size_ > cols_ ? x.back() * bias_column() : 0;
    RowVector<double> values(usize(problem_.size()), problem_.store);
    each_chunk([&](std::size_t, Index begin, Index end) {
      for (Index i = begin; i < end; ++i) values[usize(i)] = rows_.dot(place(i), x.data()) + last;
    });
    return values;
  }

  /// Sum of amount_i z_i.
  std::vector<double> combine(std::span<const double> amounts) const {
    std::vector<std::vector<double>> parts(usize(kChunks), std::vector<double>(size_, 0.0));
    each_chunk([&](std::size_t c, Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const double amount = amounts[usize(i)];
        if (amount == 0) continue;
        rows_.add(place(i), amount, parts[c].data());
        if (size_ > cols_) parts[c].back() += amount * bias_column();
      }
    });
    return sum_of(std::move(parts));
  }

  static std::vector<double> sum_of(std::vector<std::vector<double>> parts) {
    for (std::size_t c = 1; c < parts.size(); ++c) {
      for (std::size_t k = 0; k < parts[c].size(); ++k) parts[0][k] += parts[c][k];
    }
    return std::move(parts[0]);
  }

  /// Lower triangle of the sum of weight_i z_i z_i'.
  std::vector<double> outer_products(std::span<const double> weights) const {
    std::vector<std::vector<double>> parts(usize(kChunks));
    each_chunk([&](std::size_t c, Index begin, Index end) {
      parts[c].assign(size_ * size_, 0.0);
      std::vector<double> block(kRowsAtOnce * size_);
      for (Index first = begin; first < end; first += kRowsAtOnce) {
        if (first % kRowsBetweenChecks == 0 && stop_.interrupted()) return;  // the sum is of no use
        std::fill(block.begin(), block.end(), 0.0);
        for (Index i = first; i < std::min<Index>(first + kRowsAtOnce, end); ++i) {
          const double root = std::sqrt(weights[usize(i)]);
          double* z = &block[usize(i - first) * size_];
          rows_.add(place(i), root, z);
          if (size_ > cols_) z[cols_] = root * bias_column();
        }
        add_outer_products(block.data(), size_, parts[c].data());
      }
    });
    std::erase_if(parts, [](const std::vector<double>& part) { return part.empty(); });
    return sum_of(std::move(parts));
  }

  // In the middle of what the bounds and the sum of b allow, where all products of a coefficient
  // and its multiplier are the same. With costs of P and N in all, that is N / (P + N) of the way
  // for the first class and P / (P + N) for the other: their sum is 0.
  void start() {
    norm_ = mean_norm();
    weights_.assign(size_, 0.0);
    std::array<double, 2> costs{};  // of the negative class, of the positive one
    for (std::size_t i = 0; i < problem_.target.size(); ++i)
      costs[problem_.target[i] > 0 ? 1 : 0] += problem_.cost[i];
    const bool tube = problem_.task == Task::regression;
    const bool halves = tube || !is_free() || costs[0] == 0 || costs[1] == 0;
    sides_.reserve(usize(problem_.size()) * sides_a_point_);
    for (std::size_t i = 0; i < problem_.target.size(); ++i) {
      const double target = problem_.target[i];
      const double share = halves ? 0.5 : costs[target > 0 ? 0 : 1] / (costs[0] + costs[1]);
      Side side;
      side.ridge = dual_ridge(problem_, static_cast<Index>(i));
      side.upper = dual_bound(problem_, static_cast<Index>(i));
      side.a = side.bounded() ? side.upper * share : 2 * share / (norm_ + side.ridge);
      if (side.bounded()) side.room = side.upper * (1 - share);
      side.sign = tube ? 1 : target;
      side.slope = tube ? problem_.tube - target : -1;
      sides_.push_back(side);
      if (!tube) continue;
      side.sign = -1;
      side.slope = problem_.tube + target;
      sides_.push_back(side);
    }
    measure();  // without multipliers, the residual is the gradient
    double product = 0;
    for (const Side& side : sides_) {
      const double width = side.bounded() ? std::max(side.a, side.room) : side.a;
      product = std::max(product, std::max(1e-2, std::abs(side.residual)) * width);
    }
    for (Side& side : sides_) {
      side.at_zero = product / side.a;
      if (side.bounded()) side.at_upper = product / side.room;
    }
    if (is_free() && sides_[0].bounded())
      weights_.back() = sides_[0].sign * (sides_[0].at_zero - sides_[0].at_upper);
    measure();
  }

  double mean_norm() const {
    double sum = 0;
    for (Index i = 0; i < problem_.size(); ++i) sum += rows_.squared_norm(place(i));
    sum /= static_cast<double>(problem_.size());
    if (size_ > cols_ && !is_free()) sum += bias_column() * bias_column();
    return sum > 0 ? sum : 1;
  }

  RowVector<double> sums_by_point(double (*value)(const Side&)) const {
    RowVector<double> sums(usize(problem_.size()), 0.0, problem_.store);
    for (std::size_t s = 0; s < sides_.size(); ++s) sums[point(s)] += value(sides_[s]);
    return sums;
  }

  static double sum(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }

  // w'x + offset of every point for these coefficients.
  RowVector<double> values_of(std::span<const double> beta) const {
    std::vector<double> weights = combine(beta);
    if (is_free()) weights.back() = weights_.back();
    return multiply(weights);
  }

  void measure() {
    excess_ = combine(sums_by_point([](const Side& s) { return s.sign * s.a; }));
    for (std::size_t j = 0; j < size_; ++j) {
      if (j < cols_ || !is_free()) excess_[j] -= weights_[j];
    }
    const RowVector<double> values = multiply(weights_);
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      Side& side = sides_[s];
      const double gradient = side.sign * values[point(s)] + side.ridge * side.a + side.slope;
      side.residual = gradient - side.at_zero + side.at_upper;
    }
  }

  // Coefficients whose multipliers say that they end at a bound are put there.
  void keep_if_best() {
    const double steep = stop_.limits().eps / 4;
    RowVector<double> beta(usize(problem_.size()), 0.0, problem_.store);
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const Side& side = sides_[s];
      const double a = side.at_zero > steep                      ? 0
                       : side.bounded() && side.at_upper > steep ? side.upper
                                                                 : std::min(side.a, side.upper);
      beta[point(s)] += side.sign * a;
    }
    const double violation = violation_of(beta);
    if (std::isfinite(violation) && (!best_ || violation < best_->violation)) {
      const double offset = is_free()       ? weights_.back()
                            : size_ > cols_ ? bias_column() * bias_column() * sum(beta)
                                            : 0;
      best_ = InteriorSolution{beta, offset, violation};
    }
  }

  // Infinite when the numbers have run out of their range.
  double violation_of(std::span<const double> beta) const {
    const RowVector<double> values = values_of(beta);
    if (!std::isfinite(sum(values))) return kInfinity;
    double high = 0;
    double low = 0;
    for (Index i = 0; i < problem_.size(); ++i) {
      const double gradient = projected_gradient(problem_, i, beta[usize(i)], values[usize(i)]);
      high = std::max(high, gradient);
      low = std::min(low, gradient);
    }
    return is_free() ? std::max(high - low, norm_ * std::abs(sum(beta))) : high - low;
  }

  // (I + sum of weight z z') x = right-hand side, where a free offset has no 1 in its place, scaled
  // so that the diagonal is 1.
  bool factor_normal_equations() {
    for (Side& side : sides_) {
      side.curvature = side.ridge + side.at_zero / side.a;
      if (side.bounded()) side.curvature += side.at_upper / side.room;
      side.curvature = std::max(side.curvature, kLeastCurvature * norm_);
    }
    std::vector<double> matrix =
        outer_products(sums_by_point([](const Side& s) { return 1 / s.curvature; }));
    scale_.resize(size_);
    for (std::size_t j = 0; j < size_; ++j) {
      double& diagonal = matrix[j * size_ + j];
      if (j < cols_ || !is_free()) diagonal += 1;
      scale_[j] = 1 / std::sqrt(diagonal);
    }
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k <= j; ++k) matrix[j * size_ + k] *= scale_[j] * scale_[k];
    }
    return cholesky_.factor(std::move(matrix), size_);
  }

  // A step, and how much of it may be taken: Mehrotra's, whose second part corrects for what the
  // first would add to the products, then J. Gondzio's corrections (Computational Optimization and
  // Applications 6, 1996): products that a longer step would carry off from the others are pulled
  // back.
  double find_way() {
    for (Side& side : sides_) side.low_goal = side.high_goal = 0;
    find_step();
    const double mean = mean_complementarity(0);
    const double reach = longest_step();
    const double goal = mean * std::pow(mean_complementarity(reach) / mean, 3);
    for (Side& side : sides_) {
      side.low_goal = goal - side.da * side.dat_zero;
      side.high_goal = goal + side.da * side.dat_upper;
    }
    find_step();
    double length = longest_step();
    for (int correction = 0; correction < kCorrections && length < 0.9; ++correction) {
      const RowVector<Side> sides_before = sides_;
      const std::vector<double> weights_step_before = weights_step_;
      pull_back(goal, std::min(1.0, 1.5 * length + 0.1));
      find_step();
      const double longer = longest_step();
      if (longer < length) {
        sides_ = sides_before;
        weights_step_ = weights_step_before;
        break;
      }
      const bool is_enough = longer < 1.1 * length;
      length = longer;
      if (is_enough) break;
    }
    return kStepShare * length;
  }

  void pull_back(double goal, double length) {
    const auto correction = [goal](double product) {
      return std::max(std::clamp(product, 0.1 * goal, 10 * goal) - product, -10 * goal);
    };
    for (Side& side : sides_) {
      side.low_goal +=
          correction((side.a + length * side.da) * (side.at_zero + length * side.dat_zero));
      if (!side.bounded()) continue;
      side.high_goal +=
          correction((side.room - length * side.da) * (side.at_upper + length * side.dat_upper));
    }
  }

  // Towards products of the sides' goals.
  void find_step() {
    RowVector<double> pull(sides_.size(), problem_.store);
    RowVector<double> amounts(usize(problem_.size()), 0.0, problem_.store);
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      Side& side = sides_[s];
      // Multipliers after the step, but for their part that is linear in da.
      side.dat_zero = side.low_goal / side.a - side.at_zero;
      side.dat_upper = side.bounded() ? side.high_goal / side.room - side.at_upper : 0;
      pull[s] = -side.residual + side.dat_zero - side.dat_upper;
      amounts[point(s)] += side.sign * pull[s] / side.curvature;
    }
    std::vector<double> right = combine(amounts);
    for (std::size_t j = 0; j < size_; ++j) right[j] = scale_[j] * (right[j] + excess_[j]);
    weights_step_ = cholesky_.solve(std::move(right));
    for (std::size_t j = 0; j < size_; ++j) weights_step_[j] *= scale_[j];
    const RowVector<double> values = multiply(weights_step_);
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      Side& side = sides_[s];
      side.da = (pull[s] - side.sign * values[point(s)]) / side.curvature;
      side.dat_zero -= side.at_zero / side.a * side.da;
      if (side.bounded()) side.dat_upper += side.at_upper / side.room * side.da;
    }
  }

  // Up to 1, as far as nothing becomes negative.
  double longest_step() const {
    double length = 1;
    const auto keep = [&length](double value, double step) {
      if (step < 0) length = std::min(length, -value / step);
    };
    for (const Side& side : sides_) {
      keep(side.a, side.da);
      keep(side.at_zero, side.dat_zero);
      if (!side.bounded()) continue;
      keep(side.room, -side.da);
      keep(side.at_upper, side.dat_upper);
    }
    return length;
  }

  double mean_complementarity(double share) const {
    double total = 0;
    double products = 0;
    for (const Side& side : sides_) {
      total += side.complementarity(share);
      products += side.bounded() ? 2 : 1;
    }
    return total / products;
  }

  void take_step(double length) {
    for (Side& side : sides_) {
      side.a += length * side.da;
      side.at_zero += length * side.dat_zero;
      if (!side.bounded()) continue;
      side.room -= length * side.da;
      side.at_upper += length * side.dat_upper;
    }
    for (std::size_t j = 0; j < size_; ++j) weights_[j] += length * weights_step_[j];
  }

  const Problem& problem_;
  const qp::StopCheck& stop_;
  Rows rows_;
  std::size_t cols_;
  std::size_t size_;  // of the normal equations: columns, and the bias
  std::size_t sides_a_point_;
  Index chunk_;      // points
  double norm_ = 1;  // mean of |z|^2
  RowVector<Side> sides_;
  std::vector<double> weights_;
  std::vector<double> weights_step_;
  std::vector<double> excess_;  // sum of b z less the weights; less 0 for a free offset
  Cholesky cholesky_;
  std::vector<double> scale_;
  std::optional<InteriorSolution> best_;
};

bool is_small(Index points, Index cols) {
  return points > 0 && points <= kMostPoints && cols <= kMostCols;
}

}  // namespace

bool has_interior_method(const Problem& problem) {
  return is_small(problem.size(), problem.features.cols()) && !problem.nonnegative;
}

double interior_work(Index points, Index cols, double values_a_row) {
  // Multiplications with half the columns, four at a time; and about ten passes.
  const double row = values_a_row * (static_cast<double>(cols) / 8 + 10);
  return kTypicalSteps * static_cast<double>(points) * row;
}

Index interior_bytes(Index points, Index cols) {
  if (!is_small(points, cols)) return 0;
  return (kChunks + 2) * (cols + 1) * (cols + 1) * static_cast<Index>(sizeof(double));
}

Index interior_point_bytes(Index points, Index cols) {
  if (!is_small(points, cols)) return 0;
  return points * (4 * static_cast<Index>(sizeof(Side)) + 10 * 8);  // two sides, kept twice
}

std::optional<InteriorSolution> solve_interior(const Problem& problem, const qp::StopCheck& stop) {
  if (!has_interior_method(problem)) return std::nullopt;
  if (problem.features.is_sparse()) return InteriorPoint<SparseRows>(problem, stop).run();
  return InteriorPoint<DenseRows>(problem, stop).run();
}

}  // namespace tamis::linear

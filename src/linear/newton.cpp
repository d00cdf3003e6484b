#include "linear/newton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/infinity.hpp"
#include "base/parallel.hpp"
#include "data/copy_rows.hpp"
#include "linear/block_sums.hpp"
#include "linear/line_search.hpp"
#include "linear/newton_points.hpp"
#include "linear/newton_system.hpp"
#include "linear/rows.hpp"

namespace tamis::linear {
namespace {

constexpr double kFirstWidth = 1;   // of a ramp, for targets of +1 and -1
constexpr double kWidthFactor = 4;  // by which it falls, at most
// The violation at the end of a proximal step is about the width, or less: the widths end just
// below the tolerance.
constexpr double kLastWidth = 0.9;
constexpr double kLeastWidth = 1e-9;  // relative to the first: below it, rounding is all there is
// A proximal step is done when the values of w are as near to those of b as this share of what b
// has moved, both in units of a value.
constexpr double kInnerShare = 0.5;
constexpr int kMostNewtonSteps = 1000;
constexpr int kStepsBetweenChecks = 10;  // while steps are cut short
// Samples of the points, each this many times the one before, as long as every one has so many
// points for each column, and so many in all.
constexpr Index kSampleGrowth = 8;
constexpr Index kSampleRows = 64;
constexpr Index kLeastSample = 4096;
// The values of w that a sample of n points finds differ from those of all points by about
// sqrt(columns / n): ramps narrower than some of that would tell no more about all points.
constexpr double kSampleErrors = 4;
constexpr double kEnoughSlope = 0.1;  // a line search ends at this share of the first slope
constexpr double kRounding = 1e-14;

template <typename Rows>
class Newton {
 public:
  Newton(const Problem& problem, qp::StopCheck& stop, std::int64_t done)
      : problem_(problem),
        stop_(stop),
        group_(problem.group == nullptr ? alone() : *problem.group),
        sums_({problem.blocks.begin(), problem.blocks.end()}, group_),
        features_(rows_in_order(problem)),
        rows_(features_),
        points_(problem, sums_),
        system_(rows_, sums_, problem, stop),
        ramp_of_block_(usize(sums_.blocks()), RowVector<RampPoint>(problem.store)),
        moving_(usize(sums_.blocks()), RowVector<Index>(problem.store)),
        steps_(done),
        most_steps_(done + kMostNewtonSteps) {}

  Solution run(const qp::StatusCallback& on_status) {
    start();
    if (violation_ <= stop_.limits().eps) return finish();
    if (problem_.start.empty()) solve_samples();
    if (!must_stop()) optimize(stop_.limits().eps, on_status);
    return finish();
  }

 private:
  struct Distance {
    double violation = 0;
    double error = 0;  ///< largest difference of the values of w and of the sum of b z
    double moved = 0;  ///< largest width / C |b - center|
  };

  static Matrix rows_in_order(const Problem& problem) {
    if (!problem.copies_rows || problem.rows.empty()) return problem.features;
    if (problem.control == nullptr) return problem.features.select(problem.rows);
    return copy_rows(problem.features, problem.rows, "a copy of the rows", *problem.control);
  }

  bool is_free() const { return problem_.bias.rule == Bias::Rule::free; }
  Place place(Index i) const { return system_.place(i); }

  /// x'z of a point.
  double dot(Index i, const std::vector<double>& x) const {
    const double last = system_.has_bias() ? x.back() * system_.bias_column() : 0;
    return rows_.dot(place(i), x.data()) + last;
  }

  void start() {
    if (problem_.task == Task::regression && points_.has_ramps()) {
      const std::vector<double> scale = sums_.sum(2, [&](Index begin, Index end, double* out) {
        for (Index i = begin; i < end; ++i) out[0] += std::abs(problem_.target[usize(i)]);
        out[1] += static_cast<double>(end - begin);
      });
      if (scale[0] > 0) width_ = scale[0] / scale[1];
    }
    weights_.assign(system_.size(), 0.0);
    points_.each([&](Index i) { points_[i].b = first_coefficient(i); });
    if (!problem_.start.empty()) {
      weights_ = combine();
      if (is_free()) weights_.back() = 0;
      points_.each([&](Index i) { points_[i].value = dot(i, weights_); });
      // Near the optimum, wide ramps would only lead away from it.
      sum_ = weights_;
      violation_ = measure().violation;
      if (std::isfinite(violation_))
        width_ = std::clamp(violation_, std::min(stop_.limits().eps, width_), width_);
    }
    first_width_ = width_;
    points_.set_width(width_);
    recenter_ = points_.has_ramps();
  }

  double first_coefficient(Index i) const {
    if (problem_.start.empty()) return points_.middle(i);
    const auto [lower, upper] = points_.bounds(i);
    return std::clamp(problem_.start[usize(i)], lower, upper);
  }

  // Until the violation of the points looked at is within the tolerance, or it has to stop.
  void optimize(double tolerance, const qp::StatusCallback& on_status) {
    width_factor_ = even_factor(width_ / (kLastWidth * tolerance), kWidthFactor);
    bool look = true;  // whether this may be the end of a proximal step
    int cut_short = 0;
    for (;;) {
      find_coefficients();
      if (must_stop()) return;
      if (look) {
        const Distance distance = measure();
        if (must_stop()) return;
        violation_ = distance.violation;
        if (on_status) on_status({steps_, violation_, system_.num_free()});
        if (violation_ <= tolerance) return;
        if (points_.has_ramps() && distance.error <= kInnerShare * distance.moved) {
          if (!narrow()) return;
          look = false;
          continue;
        }
      }
      const double length = step();
      if (must_stop()) return;
      if (length == 0 && !narrow()) return;
      ++steps_;
      cut_short = length == 1 ? 0 : cut_short + 1;
      look = length == 1 || cut_short % kStepsBetweenChecks == 0;
    }
  }

  // Where points are many for each column, a part of them tells nearly all about w: what is left
  // for the next larger part, and in the end for all, are a few steps with narrow ramps.
  void solve_samples() {
    const Index columns = static_cast<Index>(system_.size());
    const Index least = std::max(kLeastSample, kSampleRows * columns);
    Index parts = 1;
    while (system_.points() / (parts * kSampleGrowth) >= least) parts *= kSampleGrowth;
    if (parts == 1) return;
    for (bool must_end = false; parts > 1 && !must_end; parts /= kSampleGrowth) {
      points_.look_at(parts);
      center_ramps();
      const double points = static_cast<double>(system_.points()) / static_cast<double>(parts);
      const double error = kSampleErrors * std::sqrt(static_cast<double>(columns) / points);
      const double next_width = std::max(first_width_ * error, stop_.limits().eps);
      optimize(next_width, {});
      gave_up_ = false;  // more points may do what these could not
      must_end = must_stop();
      width_ = std::min(width_, next_width);
      points_.set_width(width_);
    }
    points_.look_at(1);
    center_ramps();  // when it has to stop, too: then these are the coefficients of the answer
  }

  // Values and coefficients for w of the points looked at, with the kink of the loss in the middle
  // of their ramps.
  void center_ramps() {
    points_.each([&](Index i) {
      NewtonPoint& point = points_[i];
      point.value = dot(i, weights_);
      if (points_.has_ramps()) point.pull = points_.middle(i) / points_.give(i);
      point.b = points_.coefficient(i, point.value);
    });
    length_ = 0;
    recenter_ = false;
  }

  // The next proximal step, around the present b. False when there is none.
  bool narrow() {
    if (!points_.has_ramps() || !(width_ > kLeastWidth * first_width_)) {
      gave_up_ = true;
      return false;
    }
    width_ /= width_factor_;
    points_.set_width(width_);
    recenter_ = true;
    return true;
  }

  // All ranks end together.
  bool must_stop() {
    const bool mine = gave_up_ || stop_.must_stop(steps_);
    if (group_.size() > 1) stop_.adopt_reason(largest_of_all(group_, stop_.reason()));
    if (steps_ >= most_steps_) gave_up_ = true;
    return mine || gave_up_ || stop_.reason() != StopReason::converged;
  }

  /// Sum of b z.
  std::vector<double> combine() const {
    return sums_.sum(system_.size(), [&](Index begin, Index end, double* out) {
      for (Index i = begin; i < end; ++i) add(i, points_[i].b, out);
    });
  }

  void add(Index i, double b, double* out) const {
    if (b == 0) return;
    rows_.add(place(i), b, out);
    if (system_.has_bias()) out[system_.size() - 1] += b * system_.bias_column();
  }

  // b for the values of w, and the gradient. One pass also ends the last step, and begins the next
  // proximal step: where memory is short, a pass over the points reads and writes a file.
  void find_coefficients() {
    for (auto& ramp : ramp_of_block_) ramp.clear();
    sum_ = sums_.sum(system_.size(), [&](Index begin, Index end, double* out) {
      RowVector<RampPoint>& ramp = ramp_of_block_[usize(sums_.block_at(begin))];
      points_.each_of_block(begin, end, stop_, [&](Index i) {
        NewtonPoint& point = points_[i];
        if (recenter_) point.pull = point.b / points_.give(i);
        if (length_ != 0) point.value += length_ * point.change;
        point.b = points_.coefficient(i, point.value);
        if (point.b == 0) return;
        add(i, points_.share() * point.b, out);
        const auto [lower, upper] = points_.bounds(i);
        if (point.b > lower && point.b < upper)
          ramp.push_back({i, points_.share() * points_.give(i)});
      });
    });
    recenter_ = false;
    length_ = 0;
    gradient_.resize(sum_.size());
    for (std::size_t j = 0; j < sum_.size(); ++j) gradient_[j] = weights_[j] - sum_[j];
    if (is_free()) {
      gradient_.back() = -sum_.back();
      sum_.back() = weights_.back();  // the offset is no sum
    }
  }

  Distance measure() const {
    struct Extremes {
      double high = 0;
      double low = 0;
      double error = 0;
      double moved = 0;
      void add(const Extremes& other) {
        high = std::max(high, other.high);
        low = std::min(low, other.low);
        error = std::max(error, other.error);
        moved = std::max(moved, other.moved);
      }
    };
    std::vector<Extremes> parts(usize(sums_.blocks()));
    parallel_each(sums_.blocks(), [&](Index block) {
      Extremes& part = parts[usize(block)];
      const auto add = [&](Index i) {
        const NewtonPoint& point = points_[i];
        const double value = dot(i, sum_);
        const double slope = projected_gradient(problem_, i, point.b, value);
        part.high = std::max(part.high, slope);
        part.low = std::min(part.low, slope);
        part.error = std::max(part.error, std::abs(value - point.value));
        if (points_.has_ramps())
          part.moved = std::max(part.moved, std::abs(point.b / points_.give(i) - point.pull));
        if (!std::isfinite(value)) part.high = kInfinity;
      };
      points_.each_of_block(sums_.block_begin(block), sums_.block_begin(block + 1), stop_, add);
    });
    Extremes all;
    for (const Extremes& part : parts) all.add(part);
    for (const Extremes& part : gather_values(group_, all)) all.add(part);
    double violation = all.high - all.low;
    // What the sum of b, which should be 0, is worth.
    if (is_free() && !gradient_.empty())
      violation = std::max(violation, system_.mean_norm() * std::abs(gradient_.back()));
    return {violation, all.error, all.moved};
  }

  // Returns how much of the step was taken: 1 at most times, 0 when there is none.
  double step() {
    RowVector<RampPoint> ramp(problem_.store);
    for (const auto& of_block : ramp_of_block_)
      ramp.insert(ramp.end(), of_block.begin(), of_block.end());
    direction_ = system_.solve(ramp, gradient_);
    length_ = search();
    for (std::size_t j = 0; j < weights_.size(); ++j) weights_[j] += length_ * direction_[j];
    return length_;
  }

  // Slope of the primal along the direction: at its start, at a whole step, and what points whose b
  // is the same at both contribute to it in between, as b is monotone; `size` is that of the terms.
  struct Slopes {
    double first = 0;
    double whole = 0;
    double constant = 0;
    double size = 0;
  };

  // Also finds the change of every value.
  Slopes first_slopes() {
    for (auto& moving : moving_) moving.clear();
    const std::vector<double> parts = sums_.sum(4, [&](Index begin, Index end, double* out) {
      RowVector<Index>& moving = moving_[usize(sums_.block_at(begin))];
      points_.each_of_block(begin, end, stop_, [&](Index i) {
        NewtonPoint& point = points_[i];
        point.change = dot(i, direction_);
        const double term = point.b * point.change;
        const double b = points_.coefficient(i, point.value + point.change);
        out[0] -= term;
        out[1] -= b * point.change;
        out[3] += std::abs(term);
        if (b == point.b)
          out[2] -= term;
        else
          moving.push_back(i);
      });
    });
    const auto [linear, square, size] = slopes_of_norm();
    return {points_.share() * parts[0] + linear, points_.share() * parts[1] + linear + square,
            points_.share() * parts[2] + linear, points_.share() * parts[3] + size};
  }

  struct NormSlopes {
    double linear = 0;  // w'd, and the size of its terms
    double square = 0;  // d'd
    double size = 0;
  };
  NormSlopes slopes_of_norm() const {
    NormSlopes result;
    const std::size_t penalized = weights_.size() - (is_free() ? 1 : 0);
    for (std::size_t j = 0; j < penalized; ++j) {
      result.linear += weights_[j] * direction_[j];
      result.square += direction_[j] * direction_[j];
      result.size += std::abs(weights_[j] * direction_[j]);
    }
    return result;
  }

  // For 0 < length < 1.
  double slope_within(double length, const Slopes& slopes) const {
    const auto add_moving = [&](Index begin, Index, double* out) {
      for (const Index i : moving_[usize(sums_.block_at(begin))]) {
        const NewtonPoint& point = points_[i];
        out[0] -= points_.coefficient(i, point.value + length * point.change) * point.change;
      }
    };
    double work = 0;
    for (const auto& of_block : moving_) work += static_cast<double>(of_block.size());
    const double moving = sums_.sum(1, add_moving, 4 * work)[0];
    return slopes.constant + points_.share() * moving + length * slopes_of_norm().square;
  }

  double slope_beyond(double length) const {
    const double points = sums_.sum(1, [&](Index begin, Index end, double* out) {
      points_.each_of_block(begin, end, stop_, [&](Index i) {
        const NewtonPoint& point = points_[i];
        out[0] -= points_.coefficient(i, point.value + length * point.change) * point.change;
      });
    })[0];
    const auto [linear, square, size] = slopes_of_norm();
    return points_.share() * points + linear + length * square;
  }

  // The slope grows with the length: where it vanishes is the minimum.
  double search() {
    const Slopes slopes = first_slopes();
    const double rounding = kRounding * slopes.size;
    if (!(slopes.first < -rounding)) return 0;
    const double enough = std::max(kEnoughSlope * -slopes.first, rounding);
    if (slopes.whole < -5 * enough) return search_beyond(slopes.whole, enough);
    if (slopes.whole <= enough) return 1;
    return root_of_slope(slopes.first, slopes.whole, enough,
                         [&](double length) { return slope_within(length, slopes); });
  }

  // The way is longer than a step: the longest length at which the slope is still negative.
  double search_beyond(double slope, double enough) const {
    double length = 1;
    for (int trial = 0; trial < kMostSlopes && slope < -5 * enough; ++trial) {
      const double next = slope_beyond(4 * length);
      if (!(next <= enough)) break;
      length *= 4;
      slope = next;
    }
    return length;
  }

  Solution finish() {
    Solution solution;
    if (stop_.reason() != StopReason::converged) {
      // Stopped within a pass, b is of two moments; it is feasible at all of them.
      sum_ = combine();
      if (is_free()) sum_.back() = weights_.back();
    } else if (gave_up_) {
      stop_.note_precision_limit();
    }
    // Away from the optimum, the w of b can be a bad one where that of the steps is good.
    std::vector<double> answer = sum_;
    double primal = primal_of(sum_);
    if (stop_.reason() != StopReason::converged) {
      const double of_steps = primal_of(weights_);
      if (of_steps < primal) answer = weights_;
      primal = std::min(primal, of_steps);
    }
    const std::vector<double> totals = sum_points();
    solution.objective = squared_norm(sum_) / 2 + totals[0];
    solution.offset = system_.has_bias() ? answer.back() * system_.bias_column() : 0;
    const double of_sum = is_free() ? solution.offset * totals[1] : 0;
    solution.gap = std::max(0.0, primal + solution.objective + of_sum);
    solution.violation = violation_;
    solution.stop_reason = stop_.reason();
    solution.epochs = steps_;
    solution.support_vectors = static_cast<Index>(totals[2]);
    solution.bounded_support_vectors = static_cast<Index>(totals[3]);
    solution.weights.assign(answer.begin(),
                            answer.begin() + std::ptrdiff_t(usize(problem_.features.cols())));
    solution.beta = RowVector<double>(problem_.store);
    solution.beta.reserve(usize(problem_.size()));
    for (Index i = 0; i < problem_.size(); ++i) solution.beta.push_back(points_[i].b);
    return solution;
  }

  // A free offset costs nothing.
  double squared_norm(const std::vector<double>& x) const {
    return std::inner_product(x.begin(), x.end() - (is_free() ? 1 : 0), x.begin(), 0.0);
  }

  double primal_of(const std::vector<double>& x) const {
    const double losses = sums_.sum(1, [&](Index begin, Index end, double* out) {
      for (Index i = begin; i < end; ++i) out[0] += primal_loss(problem_, i, dot(i, x));
    })[0];
    return squared_norm(x) / 2 + losses;
  }

  // Dual losses, sum of b, support vectors, and those at a bound.
  std::vector<double> sum_points() const {
    return sums_.sum(4, [&](Index begin, Index end, double* out) {
      for (Index i = begin; i < end; ++i) {
        const double b = points_[i].b;
        const auto [lower, upper] = points_.bounds(i);
        out[0] += dual_loss(problem_, i, b);
        out[1] += b;
        if (b != 0) out[2] += problem_.copies_of(i);
        if (b != 0 && (b == lower || b == upper)) out[3] += problem_.copies_of(i);
      }
    });
  }

  const Problem& problem_;
  qp::StopCheck& stop_;
  Group& group_;
  BlockSums sums_;
  Matrix features_;  // the rows, in the order of the points unless they are left where they are
  Rows rows_;
  NewtonPoints points_;
  NewtonSystem<Rows> system_;
  double width_ = kFirstWidth;
  double first_width_ = kFirstWidth;
  double width_factor_ = kWidthFactor;
  std::vector<double> weights_;   // w, and the weight of the bias column
  std::vector<double> sum_;       // sum of b z: the w of b
  std::vector<double> gradient_;  // of the primal at weights_
  std::vector<double> direction_;
  std::vector<RowVector<RampPoint>> ramp_of_block_;  // points with a curvature
  std::vector<RowVector<Index>> moving_;             // points whose b the step changes
  double violation_ = kInfinity;                     // of b, when it was last looked at
  std::int64_t steps_;
  std::int64_t most_steps_;
  double length_ = 0;      // of the last step, which the values have not taken yet
  bool recenter_ = false;  // the next coefficients begin a proximal step around the present ones
  bool gave_up_ = false;
};

}  // namespace

bool has_newton_method(const Problem& problem) {
  return problem.blocks.size() > 2 && !problem.nonnegative;
}

Solution solve_newton(const Problem& problem, qp::StopCheck& stop, std::int64_t done,
                      const qp::StatusCallback& on_status) {
  if (problem.features.has_only_ones())
    return Newton<IndicatorRows>(problem, stop, done).run(on_status);
  if (problem.features.is_sparse()) return Newton<SparseRows>(problem, stop, done).run(on_status);
  return Newton<DenseRows>(problem, stop, done).run(on_status);
}

Index newton_bytes(Index cols) {
  const Index matrices = cols <= kMostFactoredCols ? 8 * (cols + 1) * (cols + 1) : 16 * cols;
  return checked_product(matrices, sizeof(double));
}

// Points, those with a curvature by block and together, those that move, and the answer.
Index newton_point_bytes(Index points) {
  return checked_product(
      points, sizeof(NewtonPoint) + 2 * sizeof(RampPoint) + sizeof(Index) + sizeof(double));
}

}  // namespace tamis::linear

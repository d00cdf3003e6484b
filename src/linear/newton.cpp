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
#include "linear/newton_point.hpp"
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
constexpr Index kSampleStride = 8;       // the first steps see every 8th point,
constexpr Index kSampleRows = 4;         // of which there are as many as this for each column
constexpr int kSampleSteps = 20;
constexpr double kEnoughSlope = 0.1;  // a line search ends at this share of the first slope
constexpr double kRounding = 1e-14;
constexpr Index kPointsOfTask = 4096;  // points between two looks at the clock

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
        points_(usize(problem.size()), problem.store),
        system_(rows_, sums_, problem, stop),
        tube_(problem.task == Task::regression ? problem.tube : 0),
        ramps_(problem.loss == SlackLoss::l1),
        steepness_(ramps_ ? 1 / kFirstWidth : 2),
        ramp_of_block_(usize(sums_.blocks()), RowVector<RampPoint>(problem.store)),
        moving_(usize(sums_.blocks()), RowVector<Index>(problem.store)),
        steps_(done),
        most_steps_(done + kMostNewtonSteps) {
    for (Index i = 0; i < problem_.size(); ++i) points_[usize(i)] = make_point(i);
  }

  Solution run(const qp::StatusCallback& on_status) {
    start();
    if (violation_ <= stop_.limits().eps) return finish();
    if (problem_.start.empty()) start_on_sample();
    bool look = true;  // whether this may be the end of a proximal step
    int cut_short = 0;
    for (;;) {
      find_coefficients();
      if (must_stop()) break;
      if (look) {
        const Distance distance = measure();
        if (must_stop()) break;
        violation_ = distance.violation;
        if (on_status) on_status({steps_, violation_, system_.num_free()});
        if (violation_ <= stop_.limits().eps) break;
        if (ramps_ && distance.error <= kInnerShare * distance.moved) {
          if (!narrow()) break;
          look = false;
          continue;
        }
      }
      const double length = step();
      if (must_stop()) break;
      if (length == 0 && !narrow()) break;
      ++steps_;
      cut_short = length == 1 ? 0 : cut_short + 1;
      look = length == 1 || cut_short % kStepsBetweenChecks == 0;
    }
    return finish();
  }

 private:
  struct Distance {
    double violation = 0;
    double error = 0;  ///< largest difference of the values of w and of the sum of b z
    double moved = 0;  ///< largest width / C |b - centre|
  };

  static Matrix rows_in_order(const Problem& problem) {
    if (!problem.copies_rows || problem.rows.empty()) return problem.features;
    if (problem.control == nullptr) return problem.features.select(problem.rows);
    return copy_rows(problem.features, problem.rows, "a copy of the rows", *problem.control);
  }

  bool is_free() const { return problem_.bias.rule == Bias::Rule::free; }
  Place place(Index i) const { return system_.place(i); }

  NewtonPoint make_point(Index i) const {
    NewtonPoint point;
    point.target = problem_.target[usize(i)];
    point.cost = problem_.cost[usize(i)];
    const double bound = dual_bound(problem_, i);
    const bool is_regression = problem_.task == Task::regression;
    point.lower = is_regression || point.target < 0 ? -bound : 0;
    point.upper = is_regression || point.target > 0 ? bound : 0;
    if (!problem_.start.empty())
      point.b = std::clamp(problem_.start[usize(i)], point.lower, point.upper);
    else if (ramps_ && !is_regression)
      point.b = point.target * point.cost / 2;
    return point;
  }

  // 1 / (curvature of the dual along b_i, without that of w).
  double give(const NewtonPoint& point) const { return point.cost * steepness_; }
  double coefficient(const NewtonPoint& point, double value) const {
    return best_coefficient(point, value, give(point), tube_);
  }

  void start() {
    const bool is_regression = problem_.task == Task::regression;
    if (is_regression && ramps_) {
      const std::vector<double> scale = sums_.sum(2, [&](Index begin, Index end, double* out) {
        for (Index i = begin; i < end; ++i) {
          out[0] += std::abs(points_[usize(i)].target);
          out[1] += 1;
        }
      });
      if (scale[0] > 0) width_ = scale[0] / scale[1];
    }
    weights_.assign(system_.size(), 0.0);
    if (!problem_.start.empty()) {
      weights_ = combine();
      if (is_free()) weights_.back() = 0;
      multiply(weights_, &NewtonPoint::value);
      // Near the optimum, wide ramps would only lead away from it.
      sum_ = weights_;
      violation_ = measure().violation;
      if (std::isfinite(violation_))
        width_ = std::clamp(violation_, std::min(stop_.limits().eps, width_), width_);
    }
    first_width_ = width_;
    width_factor_ = even_factor(width_ / (kLastWidth * stop_.limits().eps), kWidthFactor);
    set_centre();
  }

  // The first steps, from w = 0, are far from the optimum: a part of the points will do for them,
  // where those are many for each column. They end with the first whole step.
  void start_on_sample() {
    if (system_.points() < kSampleStride * kSampleRows * static_cast<Index>(system_.size())) return;
    stride_ = kSampleStride;
    for (int k = 0; k < kSampleSteps; ++k) {
      find_coefficients();
      if (must_stop()) break;
      const double length = step();
      ++steps_;
      if (length == 0 || length == 1 || must_stop()) break;
    }
    stride_ = 1;
    multiply(weights_, &NewtonPoint::value);
  }

  // The next proximal step: around the present b.
  void set_centre() {
    if (!ramps_) return;
    steepness_ = 1 / width_;
    for (NewtonPoint& point : points_) point.pull = point.b / give(point);
  }

  // The next proximal step. False when there is none.
  bool narrow() {
    if (!ramps_ || !(width_ > kLeastWidth * first_width_)) {
      gave_up_ = true;
      return false;
    }
    width_ /= width_factor_;
    set_centre();
    return true;
  }

  // All ranks end together.
  bool must_stop() {
    const bool mine = gave_up_ || stop_.must_stop(steps_);
    if (group_.size() > 1) stop_.adopt_reason(largest_of_all(group_, stop_.reason()));
    if (steps_ >= most_steps_) gave_up_ = true;
    return mine || gave_up_ || stop_.reason() != StopReason::converged;
  }

  // Calls body(i) for the points, or those of the sample, while there is time.
  template <typename Body>
  void each_point(Index begin, Index end, const Body& body) const {
    for (Index first = begin; first < end; first += kPointsOfTask) {
      if (stop_.interrupted()) return;  // what is missing is not looked at
      for (Index i = first; i < std::min(first + kPointsOfTask, end); i += stride_) body(i);
    }
  }
  // How many points each that is looked at stands for.
  double share() const { return static_cast<double>(stride_); }

  /// Sum of b z.
  std::vector<double> combine() const {
    return sums_.sum(system_.size(), [&](Index begin, Index end, double* out) {
      for (Index i = begin; i < end; ++i) add(i, points_[usize(i)].b, out);
    });
  }

  void add(Index i, double b, double* out) const {
    if (b == 0) return;
    rows_.add(place(i), b, out);
    if (system_.has_bias()) out[system_.size() - 1] += b * system_.bias_column();
  }

  /// x'z of every point.
  void multiply(const std::vector<double>& x, double NewtonPoint::*into) {
    const double last = system_.has_bias() ? x.back() * system_.bias_column() : 0;
    parallel_ranges(problem_.size(), kPointsOfTask, [&](Index begin, Index end) {
      each_point(begin, end,
                 [&](Index i) { points_[usize(i)].*into = rows_.dot(place(i), x.data()) + last; });
    });
  }

  // b for the values of w, and the gradient.
  void find_coefficients() {
    for (auto& ramp : ramp_of_block_) ramp.clear();
    sum_ = sums_.sum(system_.size(), [&](Index begin, Index end, double* out) {
      RowVector<RampPoint>& ramp = ramp_of_block_[usize(sums_.block_at(begin))];
      each_point(begin, end, [&](Index i) {
        NewtonPoint& point = points_[usize(i)];
        point.b = coefficient(point, point.value);
        if (point.b == 0) return;
        add(i, share() * point.b, out);
        if (point.b > point.lower && point.b < point.upper)
          ramp.push_back({i, share() * give(point)});
      });
    });
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
    const double last = system_.has_bias() ? sum_.back() * system_.bias_column() : 0;
    const Index chunks = (problem_.size() + kPointsOfTask - 1) / kPointsOfTask;
    std::vector<Extremes> parts(usize(chunks));
    parallel_each(chunks, [&](Index c) {
      Extremes& part = parts[usize(c)];
      each_point(
          c * kPointsOfTask, std::min((c + 1) * kPointsOfTask, problem_.size()), [&](Index i) {
            const NewtonPoint& point = points_[usize(i)];
            const double value = rows_.dot(place(i), sum_.data()) + last;
            const double slope = projected_gradient(problem_, i, point.b, value);
            part.high = std::max(part.high, slope);
            part.low = std::min(part.low, slope);
            part.error = std::max(part.error, std::abs(value - point.value));
            if (ramps_)
              part.moved = std::max(part.moved, std::abs(point.b / give(point) - point.pull));
            if (!std::isfinite(value)) part.high = kInfinity;
          });
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
    const double length = search();
    if (length == 0) return 0;
    for (std::size_t j = 0; j < weights_.size(); ++j) weights_[j] += length * direction_[j];
    parallel_ranges(problem_.size(), kPointsOfTask, [&](Index begin, Index end) {
      for (NewtonPoint& point : std::span(points_).subspan(usize(begin), usize(end - begin)))
        point.value += length * point.change;
    });
    return length;
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
    const double last = system_.has_bias() ? direction_.back() * system_.bias_column() : 0;
    const std::vector<double> parts = sums_.sum(4, [&](Index begin, Index end, double* out) {
      RowVector<Index>& moving = moving_[usize(sums_.block_at(begin))];
      each_point(begin, end, [&](Index i) {
        NewtonPoint& point = points_[usize(i)];
        point.change = rows_.dot(place(i), direction_.data()) + last;
        const double term = point.b * point.change;
        const double b = coefficient(point, point.value + point.change);
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
    return {share() * parts[0] + linear, share() * parts[1] + linear + square,
            share() * parts[2] + linear, share() * parts[3] + size};
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
        const NewtonPoint& point = points_[usize(i)];
        out[0] -= coefficient(point, point.value + length * point.change) * point.change;
      }
    };
    double work = 0;
    for (const auto& of_block : moving_) work += static_cast<double>(of_block.size());
    const double moving = sums_.sum(1, add_moving, 4 * work)[0];
    return slopes.constant + share() * moving + length * slopes_of_norm().square;
  }

  double slope_beyond(double length) const {
    const double points = sums_.sum(1, [&](Index begin, Index end, double* out) {
      each_point(begin, end, [&](Index i) {
        const NewtonPoint& point = points_[usize(i)];
        out[0] -= coefficient(point, point.value + length * point.change) * point.change;
      });
    })[0];
    const auto [linear, square, size] = slopes_of_norm();
    return share() * points + linear + length * square;
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
    // Stopped within a pass, b is of two moments; it is feasible at all of them.
    if (stop_.reason() != StopReason::converged) {
      const double offset = weights_.back();
      sum_ = combine();
      if (is_free()) sum_.back() = offset;
    } else if (gave_up_) {
      stop_.note_precision_limit();
    }
    std::vector<double> totals = sum_points();
    const double primal = totals[0];
    const double dual = totals[1];
    const double offset = system_.has_bias() ? sum_.back() * system_.bias_column() : 0;
    double norm = 0;
    for (std::size_t j = 0; j + (is_free() ? 1 : 0) < sum_.size(); ++j) norm += sum_[j] * sum_[j];
    solution.objective = norm / 2 + dual;
    solution.gap = std::max(0.0, norm + primal + dual + (is_free() ? offset * totals[2] : 0));
    solution.violation = violation_;
    solution.stop_reason = stop_.reason();
    solution.epochs = steps_;
    solution.support_vectors = static_cast<Index>(totals[3]);
    solution.bounded_support_vectors = static_cast<Index>(totals[4]);
    solution.offset = offset;
    solution.weights.assign(sum_.begin(),
                            sum_.begin() + std::ptrdiff_t(usize(problem_.features.cols())));
    solution.beta = RowVector<double>(problem_.store);
    solution.beta.reserve(points_.size());
    for (const NewtonPoint& point : points_) solution.beta.push_back(point.b);
    return solution;
  }

  // Primal and dual losses, sum of b, support vectors, and those at a bound.
  std::vector<double> sum_points() const {
    const double last = system_.has_bias() ? sum_.back() * system_.bias_column() : 0;
    return sums_.sum(5, [&](Index begin, Index end, double* out) {
      for (Index i = begin; i < end; ++i) {
        const NewtonPoint& point = points_[usize(i)];
        const double value = rows_.dot(place(i), sum_.data()) + last;
        out[0] += primal_loss(problem_, i, value);
        out[1] += dual_loss(problem_, i, point.b);
        out[2] += point.b;
        if (point.b != 0) out[3] += problem_.copies_of(i);
        if (point.b != 0 && (point.b == point.lower || point.b == point.upper))
          out[4] += problem_.copies_of(i);
      }
    });
  }

  const Problem& problem_;
  qp::StopCheck& stop_;
  Group& group_;
  BlockSums sums_;
  Matrix features_;  // the rows, in the order of the points unless they are left where they are
  Rows rows_;
  RowVector<NewtonPoint> points_;
  NewtonSystem<Rows> system_;
  double tube_;  // 0 for classes
  bool ramps_;   // kinks in the loss, which become ramps
  double width_ = kFirstWidth;
  double steepness_;  // of the ramps, for a cost of 1
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
  Index stride_ = 1;  // every so many-th point is looked at
  bool gave_up_ = false;
};

}  // namespace

bool has_newton_method(const Problem& problem) {
  return problem.blocks.size() > 2 && !problem.nonnegative;
}

Solution solve_newton(const Problem& problem, qp::StopCheck& stop, std::int64_t done,
                      const qp::StatusCallback& on_status) {
  if (has_indicators(problem.features))
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

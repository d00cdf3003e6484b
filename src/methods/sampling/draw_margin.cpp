#include "methods/sampling/draw_margin.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/infinity.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Hulls whose squared distance is less than this part of the largest |phi(x)|^2 meet: kernel values
// are known to about 48 bits at best. Where pairs alone have to find out, which come near to zero
// ever more slowly, less must do.
constexpr double kZeroDistance = 1e-10;
constexpr double kZeroDistanceOfPairs = 1e-7;

// Pairs are quick down to this violation, in margins; where the margin is next to nothing, in parts
// of the largest |phi(x)|^2.
constexpr double kCoarse = 0.1;
constexpr double kCoarsest = 1e-6;

// Sums that are right up to this are left alone, so that coefficients at their limit stay there.
constexpr double kRounding = 1e-12;

// No coefficient of a hull exceeds 1; with this limit it is never at it.
constexpr double kHullLimit = 2;

double limit_of(const MarginPoints& points, const MarginForm& form, Index point) {
  return form.kind == MarginForm::Kind::hard ? kHullLimit : form.limit() * points.weight(point);
}

// Coefficients of `start` for the draw, by position; 0 for points it does not have.
std::vector<double> coefficients_in_draw(std::span<const Index> draw, const DrawMargin* start) {
  std::vector<double> result(draw.size(), 0.0);
  if (start == nullptr) return result;
  for (std::size_t s = 0; s < start->w.points.size(); ++s) {
    const auto at = std::lower_bound(draw.begin(), draw.end(), start->w.points[s]);
    if (at != draw.end() && *at == start->w.points[s])
      result[usize(at - draw.begin())] = start->w.coefficients[s];
  }
  return result;
}

// Makes the coefficients of one sign sum to 1 within their limits: too much is scaled down, what is
// missing is filled in from the first point on, so that few points have a coefficient.
void fit_to_hull(const qp::Problem& problem, double sign, std::vector<double>* beta) {
  const auto limit = [&](std::size_t p) { return sign > 0 ? problem.upper[p] : -problem.lower[p]; };
  double sum = 0;
  for (std::size_t p = 0; p < beta->size(); ++p) {
    if (limit(p) == 0) continue;
    (*beta)[p] = sign * std::clamp(sign * (*beta)[p], 0.0, limit(p));
    sum += std::abs((*beta)[p]);
  }
  double missing = 1 - sum;
  if (std::abs(missing) < kRounding) return;
  for (std::size_t p = 0; p < beta->size(); ++p) {
    if (limit(p) == 0) continue;
    if (sum > 1) {
      (*beta)[p] /= sum;
    } else {
      const double added = std::clamp(limit(p) - std::abs((*beta)[p]), 0.0, std::max(0.0, missing));
      (*beta)[p] += sign * added;
      missing -= added;
    }
  }
}

// The two signs of a C-SVC weigh the same: the heavier one is scaled down.
void balance(std::vector<double>* beta) {
  double sum[2] = {0, 0};
  for (const double b : *beta) sum[b > 0 ? 0 : 1] += std::abs(b);
  const double less = std::min(sum[0], sum[1]);
  if (less > (1 - kRounding) * std::max(sum[0], sum[1])) return;
  for (double& b : *beta) {
    if (b != 0) b *= less / sum[b > 0 ? 0 : 1];
  }
}

qp::Problem make_problem(const MarginPoints& points, const MarginForm& form,
                         std::span<const Index> draw, const DrawMargin* start) {
  const bool is_hull = form.is_hull();
  qp::Problem problem;
  for (const Index point : draw) {
    const double sign = points.sign(point);
    const double limit = limit_of(points, form, point);
    problem.target.push_back(is_hull ? 0 : sign);
    problem.upper.push_back(sign > 0 ? limit : 0);
    problem.lower.push_back(sign > 0 ? 0 : -limit);
    if (is_hull) problem.group.push_back(sign > 0 ? 0 : 1);
    if (form.ridge() > 0) problem.ridge.push_back(form.ridge() / points.weight(point));
  }
  problem.start = coefficients_in_draw(draw, start);
  if (is_hull) {
    // `start` is scaled to margin 1: any scale will do, the sums are made 1.
    for (double& b : problem.start) b *= start == nullptr ? 1 : start->half_margin;
    fit_to_hull(problem, 1, &problem.start);
    fit_to_hull(problem, -1, &problem.start);
  } else {
    for (std::size_t p = 0; p < draw.size(); ++p)
      problem.start[p] = std::clamp(problem.start[p], problem.lower[p], problem.upper[p]);
    balance(&problem.start);
  }
  return problem;
}

/// Solves one draw to a tolerance that is known only once the margin is.
class HullSolver {
 public:
  HullSolver(const MarginPoints& points, qp::Problem problem, std::span<const Index> draw,
             const LocalLimits& limits, const RunControl& control, EvaluationCounts* counts)
      : points_(points),
        problem_(std::move(problem)),
        draw_(draw),
        limits_(limits),
        control_(control),
        counts_(counts) {}

  DrawMargin solve(double expected_half_margin) {
    const double scale = points_.largest_square();
    coarse_ = expected_half_margin > 0 ? std::max(kCoarse * expected_half_margin, kCoarsest * scale)
                                       : 1e-3 * scale;
    double tolerance =
        expected_half_margin > 0 ? 0.4 * limits_.eps * expected_half_margin : 1e-3 * scale;
    while (true) {
      run(tolerance);
      if (!is_known()) return no_answer();
      const double squared_distance = 2 * solution_.objective;
      if (squared_distance <= zero_distance_ * scale) {
        DrawMargin none = finish(1);
        none.is_separated = false;
        return none;
      }
      // Far from the optimum the thresholds may be the wrong way round: theta+ - theta- is |w|^2 at
      // it.
      DrawMargin answer = finish(half_margin() > 0 ? half_margin() : squared_distance / 2);
      if (solution_.stop_reason != StopReason::converged || tolerance < 1e-15 * scale)
        return answer;
      const double wanted =
          0.5 * limits_.eps * answer.half_margin * std::min(1.0, points_.unit(answer.w));
      if (half_margin() > 0 && tolerance <= wanted) return answer;
      // A margin found at a coarse tolerance may be far off.
      tolerance = std::clamp(0.8 * wanted, 0.01 * tolerance, 0.5 * tolerance);
    }
  }

 private:
  void run(double tolerance) {
    qp::Limits limits{tolerance, 0, limits_.max_seconds};
    if (limits_.max_iterations > 0) limits.max_iterations = limits_.max_iterations - iterations_;
    DrawSolution found = points_.solve(problem_, draw_, limits, coarse_, control_, counts_);
    solution_ = std::move(found.solution);
    zero_distance_ = found.by_free_set ? kZeroDistance : kZeroDistanceOfPairs;
    iterations_ += solution_.iterations;
    problem_.start = solution_.beta;
    if (is_known()) set_thresholds();
  }

  // False: told to stop before the sums of the start were found, nothing but its coefficients is
  // known.
  bool is_known() const { return std::isfinite(solution_.objective); }
  DrawMargin no_answer() const {
    DrawMargin none;
    none.stop_reason = solution_.stop_reason;
    none.iterations = iterations_;
    return none;
  }

  // theta is the multiplier of the sum of its sign. Where every coefficient of a sign is at its
  // limit, any theta beyond the last of its points is as good: it is put there.
  void set_thresholds() {
    for (int g = 0; g < 2; ++g) {
      theta_[g] = -solution_.bias[g];
      bool all_at_limit = true;
      for (std::size_t p = 0; p < draw_.size() && all_at_limit; ++p) {
        if (problem_.group[p] == g) all_at_limit = std::abs(solution_.beta[p]) == limit(p);
      }
      if (all_at_limit) put_beyond_the_last(g);
    }
  }

  void put_beyond_the_last(int g) {
    std::vector<double> values(usize(points_.size()));
    const Deadline pass(quiet(control_), limits_.max_seconds > 0 ? limits_.max_seconds : kInfinity);
    try {
      points_.project(direction(1), false, values, pass.control(), counts_);
    } catch (const Cancelled&) {
      return;  // the multiplier is as good a theta as any
    }
    theta_[g] = g == 0 ? -kInfinity : kInfinity;
    for (std::size_t p = 0; p < draw_.size(); ++p) {
      if (problem_.group[p] != g) continue;
      const double value = values[usize(draw_[p])];
      theta_[g] = g == 0 ? std::max(theta_[g], value) : std::min(theta_[g], value);
    }
  }

  double limit(std::size_t p) const { return problem_.upper[p] - problem_.lower[p]; }
  double half_margin() const { return (theta_[0] - theta_[1]) / 2; }

  Direction direction(double scale) const {
    Direction w;
    for (std::size_t p = 0; p < draw_.size(); ++p) {
      if (solution_.beta[p] == 0) continue;
      w.points.push_back(draw_[p]);
      w.coefficients.push_back(solution_.beta[p] / scale);
    }
    return w;
  }

  DrawMargin finish(double half_margin) const {
    DrawMargin answer;
    answer.half_margin = half_margin;
    answer.w = direction(half_margin);
    answer.offset = -(theta_[0] + theta_[1]) / 2 / half_margin;
    answer.squared_norm = 2 * solution_.objective / (half_margin * half_margin);
    answer.violation = solution_.violation / half_margin;
    answer.stop_reason = solution_.stop_reason;
    answer.iterations = iterations_;
    for (std::size_t p = 0; p < draw_.size(); ++p) {
      if (solution_.beta[p] != 0 && std::abs(solution_.beta[p]) == limit(p)) ++answer.bounded;
    }
    return answer;
  }

  const MarginPoints& points_;
  qp::Problem problem_;
  std::span<const Index> draw_;
  LocalLimits limits_;
  const RunControl& control_;
  EvaluationCounts* counts_;
  double zero_distance_ = kZeroDistance;
  double coarse_ = 0;  // tolerance down to which pairs are good
  qp::Solution solution_;
  double theta_[2] = {0, 0};
  std::int64_t iterations_ = 0;
};

DrawMargin solve_cost(const MarginPoints& points, const qp::Problem& problem,
                      std::span<const Index> draw, const LocalLimits& limits,
                      const RunControl& control, EvaluationCounts* counts) {
  const qp::Solution solution =
      points
          .solve(problem, draw, {0.5 * limits.eps, limits.max_iterations, limits.max_seconds},
                 kCoarse, control, counts)
          .solution;
  DrawMargin answer;
  answer.offset = solution.bias[0];
  answer.violation = solution.violation;
  answer.stop_reason = solution.stop_reason;
  answer.iterations = solution.iterations;
  double rest = 0;  // of the objective: all but 1/2 |w|^2
  for (std::size_t p = 0; p < draw.size(); ++p) {
    const double b = solution.beta[p];
    if (b == 0) continue;
    answer.w.points.push_back(draw[p]);
    answer.w.coefficients.push_back(b);
    rest += problem.ridge_at(static_cast<Index>(p)) * b * b / 2 - std::abs(b);
    if (b == problem.upper[p] || b == problem.lower[p]) ++answer.bounded;
  }
  answer.squared_norm = std::max(0.0, 2 * (solution.objective - rest));
  return answer;
}

}  // namespace

double MarginForm::limit() const {
  if (kind == Kind::hulls) return 1 / k;
  return kind == Kind::cost ? cost : kInfinity;
}

DrawMargin solve_local_margin(const MarginPoints& points, const MarginForm& form,
                              std::span<const Index> draw, const DrawMargin* start,
                              const LocalLimits& limits, const RunControl& control,
                              EvaluationCounts* counts) {
  qp::Problem problem = make_problem(points, form, draw, start);
  if (!form.is_hull()) return solve_cost(points, problem, draw, limits, control, counts);
  HullSolver solver(points, std::move(problem), draw, limits, control, counts);
  return solver.solve(start == nullptr ? 0 : start->half_margin);
}

}  // namespace tamis

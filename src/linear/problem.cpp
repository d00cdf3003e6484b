#include "linear/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "tamis/error.hpp"

namespace tamis::linear {

void require_sound(const Problem& problem) {
  const std::size_t n = problem.target.size();
  const std::size_t rows =
      problem.rows.empty() ? usize(problem.features.rows()) : problem.rows.size();
  if (rows != n || problem.cost.size() != n ||
      (!problem.start.empty() && problem.start.size() != n))
    throw InvalidArgument("a linear problem needs a target, a cost and a start for every row");
  for (std::size_t i = 0; i < n; ++i) {
    if (!(problem.cost[i] > 0) || !std::isfinite(problem.cost[i]))
      throw InvalidArgument("the cost of a row must be finite and greater than 0");
    if (problem.task == Task::classification && std::abs(problem.target[i]) != 1)
      throw InvalidArgument("a classification needs the targets +1 and -1");
  }
}

double primal_loss(const Problem& problem, Index i, double f) {
  const double t = problem.target[usize(i)];
  const double slack = problem.task == Task::regression
                           ? std::max(0.0, std::abs(f - t) - problem.tube)
                           : std::max(0.0, 1 - t * f);
  return problem.cost[usize(i)] * (problem.loss == SlackLoss::l2 ? slack * slack : slack);
}

double dual_loss(const Problem& problem, Index i, double b) {
  double value = -problem.target[usize(i)] * b;
  if (problem.task == Task::regression) value += problem.tube * std::abs(b);
  return value + dual_ridge(problem, i) * b * b / 2;
}

double projected_gradient(const Problem& problem, Index i, double b, double value) {
  const double target = problem.target[usize(i)];
  const bool is_regression = problem.task == Task::regression;
  const double sign = is_regression ? 1 : target;
  const double upper = dual_bound(problem, i);
  const double lower = is_regression ? -upper : 0;
  const double alpha = sign * b;
  const double gradient = sign * (value + dual_ridge(problem, i) * b - target);
  const double tube = is_regression ? problem.tube : 0;
  const double up = gradient + (alpha >= 0 ? tube : -tube);
  const double down = gradient + (alpha > 0 ? tube : -tube);
  if (up < 0 && alpha < upper) return up;
  if (down > 0 && alpha > lower) return down;
  return 0;
}

double dual_bound(const Problem& problem, Index i) {
  return problem.loss == SlackLoss::l2 ? std::numeric_limits<double>::infinity()
                                       : problem.cost[usize(i)];
}

double dual_ridge(const Problem& problem, Index i) {
  return problem.loss == SlackLoss::l2 ? 1 / (2 * problem.cost[usize(i)]) : 0;
}

}  // namespace tamis::linear

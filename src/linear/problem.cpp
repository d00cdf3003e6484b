#include "linear/problem.hpp"

#include <algorithm>
#include <cmath>

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
  if (problem.loss == SlackLoss::l2) value += b * b / (4 * problem.cost[usize(i)]);
  return value;
}

}  // namespace tamis::linear

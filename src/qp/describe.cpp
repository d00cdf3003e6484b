#include "qp/describe.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
#include "base/group.hpp"

namespace tamis::qp {
namespace {

// C s for a coefficient limited to C (L1 slacks); s^2 / (2 ridge) for an unlimited one with a ridge
// (L2 slacks).
double slack_cost(double slack, double limit, double ridge) {
  if (std::isfinite(limit)) return slack * limit;
  return ridge > 0 ? slack * slack / (2 * ridge) : 0.0;
}

/// A sum in the order of its terms, where that order is fixed.
class PlainSum {
 public:
  void add(double value) { sum_ += value; }
  double value() const { return sum_; }

 private:
  double sum_ = 0;
};
const PlainSum& sum_of_all(Group& /*group*/, const PlainSum& sum) { return sum; }

// The bias is the common score of the free coefficients, or the middle of what the bounds allow (as
// LIBSVM). The primal objective follows from F: its slacks are what the decision function misses
// the targets by.
template <typename Sum>
Solution describe_with(Group& group, const Problem& problem, RowVector<double> beta,
                       RowVector<double> sums, const Violation& violation) {
  const auto of_all = [&](const Sum& sum) { return sum_of_all(group, sum).value(); };
  Solution solution;
  Sum free_sum[2];
  Index free_count[2] = {0, 0};
  Sum quadratic;
  Sum linear;
  for (Index i = 0; i < problem.size(); ++i) {
    const double b = beta[usize(i)];
    if (b != 0) {
      quadratic.add(b * sums[usize(i)]);
      linear.add(problem.target[usize(i)] * b - problem.tube * std::abs(b));
    }
    if (b > problem.lower[usize(i)] && b < problem.upper[usize(i)] &&
        (b != 0 || problem.tube == 0)) {
      const double side = b > 0 ? problem.tube : -problem.tube;
      free_sum[problem.group_at(i)].add(problem.target[usize(i)] - side - sums[usize(i)]);
      ++free_count[problem.group_at(i)];
    }
  }
  for (int g = 0; g < 2; ++g) {
    const double free = of_all(free_sum[g]);
    const Index count = sum_of_all(group, free_count[g]);
    solution.bias[g] = count > 0 ? free / static_cast<double>(count) : violation.middle(g);
    if (!std::isfinite(solution.bias[g])) solution.bias[g] = 0;
  }
  solution.objective = of_all(quadratic) / 2 - of_all(linear);
  solution.violation = std::max(violation.gap, 0.0);
  // Primal = 1/2 b'Kb + cost of the slacks, each at its best for this bias; the gap is primal +
  // objective.
  Sum primal;
  Sum of_sums;  // bias times the sum a group has to keep: zero but for the hulls
  for (Index i = 0; i < problem.size(); ++i) {
    const double b = beta[usize(i)];
    const double ridge = problem.ridge_at(i);
    const double f = sums[usize(i)] - ridge * b;
    if (b != 0) {
      of_sums.add(solution.bias[problem.group_at(i)] * b);
      primal.add(b * f / 2);
    }
    const double miss = problem.target[usize(i)] - f - solution.bias[problem.group_at(i)];
    const double slack = std::max(std::abs(miss) - problem.tube, 0.0);
    if (slack > 0) {
      primal.add(
          slack_cost(slack, miss > 0 ? problem.upper[usize(i)] : -problem.lower[usize(i)], ridge));
    }
  }
  solution.duality_gap = std::max(0.0, of_all(primal) + solution.objective + of_all(of_sums));
  solution.beta = std::move(beta);
  solution.sums = std::move(sums);
  return solution;
}

}  // namespace

Solution describe(Group& group, const Problem& problem, RowVector<double> beta,
                  RowVector<double> sums, const Violation& violation, SumOrder order) {
  if (order == SumOrder::any)
    return describe_with<ExactSum>(group, problem, std::move(beta), std::move(sums), violation);
  return describe_with<PlainSum>(group, problem, std::move(beta), std::move(sums), violation);
}

}  // namespace tamis::qp

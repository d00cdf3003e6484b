#include "linear/interior_point.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/parallel.hpp"
#include "support/linear_problems.hpp"

namespace tamis::testing {
namespace {

constexpr double kEps = 1e-5;

std::optional<linear::InteriorSolution> interior(const linear::Problem& problem,
                                                 double eps = kEps) {
  const RunControl control;
  const qp::StopCheck stop({eps, 0, 0}, control);
  return linear::solve_interior(problem, stop);
}

linear::Solution descent(const linear::Problem& problem, double eps, std::int64_t max_epochs) {
  const RunControl control;
  qp::StopCheck stop({eps, max_epochs, 0}, control);
  return linear::solve(problem, stop, 1);
}

// w of coefficients.
std::vector<double> weights_of(const linear::Problem& p, std::span<const double> beta) {
  std::vector<double> w(usize(p.features.cols()), 0.0);
  for (Index i = 0; i < p.size(); ++i) {
    for (Index j = 0; j < p.features.cols(); ++j)
      w[usize(j)] += beta[usize(i)] * static_cast<double>(p.features.at(p.row(i), j));
  }
  return w;
}

// Column j is multiplied by base^j: the larger the base, the more coordinates creep.
LinearData stretched(LinearData data, double base) {
  const Index cols = data.features.cols();
  std::vector<float> values(data.features.dense_values().begin(),
                            data.features.dense_values().end());
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] *= static_cast<float>(std::pow(base, static_cast<double>(k % usize(cols))));
  data.features = Matrix::dense(data.features.rows(), cols, values);
  return data;
}

void expect_optimal(const linear::Problem& p) {
  const auto found = interior(p);
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(found->violation, kEps);
  for (std::size_t i = 0; i < found->beta.size(); ++i) {
    const double b = found->beta[i];
    EXPECT_LE(std::abs(b), p.loss == SlackLoss::l1 ? p.cost[i] : 1e300);
    if (p.task == Task::classification) {
      EXPECT_GE(p.target[i] * b, 0);
    }
  }
  // Weak duality: what is between them is all that could be gained.
  const double primal = naive_primal(p, weights_of(p, found->beta), found->offset);
  EXPECT_NEAR(primal, -naive_dual(p, found->beta), 1e-4 * (1 + std::abs(primal)));
}

TEST(InteriorPoint, ReachesTheOptimumOfEveryMachine) {
  for (const Task task : {Task::classification, Task::regression}) {
    for (const double cost : {0.01, 1.0, 1000.0}) {
      for (const double base : {1.0, 10.0}) {
        const LinearData data =
            stretched(task == Task::classification ? linear_classes(90, 4, cost, 1)
                                                   : linear_numbers(90, 4, cost, 2),
                      base);
        for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
          for (const Bias& bias :
               std::vector<Bias>{{}, {Bias::Rule::penalized, 3}, {Bias::Rule::free, 1}}) {
            SCOPED_TRACE(std::string(task_name(task)) + " C " + std::to_string(cost) + " base " +
                         std::to_string(base) + (loss == SlackLoss::l1 ? " l1" : " l2") + " bias " +
                         std::to_string(static_cast<int>(bias.rule)));
            linear::Problem p = data.problem();
            p.task = task;
            p.loss = loss;
            p.bias = bias;
            p.tube = 0.2;  // of no concern to a classification
            expect_optimal(p);
          }
        }
      }
    }
  }
}

TEST(InteriorPoint, ARareClassAndCostsOfRows) {
  LinearData data = stretched(linear_classes(3000, 5, 50, 3), 8);
  for (std::size_t i = 0; i < data.target.size(); ++i) {
    data.target[i] = i % 500 == 7 ? 1 : -1;
    data.cost[i] = data.target[i] > 0 ? 400 : 1 + static_cast<double>(i % 3);
  }
  linear::Problem p = data.problem();
  p.bias.rule = Bias::Rule::free;
  expect_optimal(p);
}

// The reason for it: 345 rows of 6 raw columns kept coordinate descent busy for minutes.
TEST(InteriorPoint, EndsADescentThatCreeps) {
  const LinearData data = stretched(linear_classes(300, 6, 64, 4), 5);
  for (const Bias::Rule rule : {Bias::Rule::none, Bias::Rule::penalized, Bias::Rule::free}) {
    linear::Problem p = data.problem();
    p.bias.rule = rule;
    const linear::Solution s = descent(p, 1e-4, 3000);
    EXPECT_EQ(s.stop_reason, StopReason::converged);
    EXPECT_LE(s.violation, 1e-4);
    const double primal = naive_primal(p, s.weights, s.offset);
    EXPECT_NEAR(primal, -naive_dual(p, s.beta), 1e-3 * (1 + std::abs(primal)));
    EXPECT_NEAR(s.gap, primal + naive_dual(p, s.beta), 1e-3 * (1 + std::abs(primal)));
  }
}

TEST(InteriorPoint, SparseRowsAndSelectedRowsAreTheSame) {
  const LinearData data = thinned(linear_classes(200, 9, 3, 5));
  linear::Problem p = data.problem();
  p.bias.rule = Bias::Rule::free;
  const std::vector<double> dense = weights_of(p, interior(p)->beta);
  p.features = data.features.to_sparse();
  std::vector<Index> where;
  shuffle_rows(&p, &where);
  const std::vector<double> sparse = weights_of(p, interior(p)->beta);
  for (std::size_t j = 0; j < 9; ++j) EXPECT_NEAR(dense[j], sparse[j], 1e-5);
}

TEST(InteriorPoint, ThreadsDoNotMatter) {
  const LinearData data = linear_numbers(9000, 7, 2, 6);
  linear::Problem p = data.problem();
  p.task = Task::regression;
  p.tube = 0.1;
  p.bias.rule = Bias::Rule::free;
  const auto one = with_threads(1, [&] { return interior(p, 1e-3); });
  const auto many = with_threads(5, [&] { return interior(p, 1e-3); });
  EXPECT_EQ(one->beta, many->beta);
  EXPECT_EQ(one->offset, many->offset);
}

TEST(InteriorPoint, KnowsWhatItIsNotFor) {
  LinearData data = linear_classes(20, 2, 1, 7);
  linear::Problem p = data.problem();
  EXPECT_TRUE(linear::has_interior_method(p));
  p.nonnegative = true;
  EXPECT_FALSE(linear::has_interior_method(p));
  EXPECT_FALSE(interior(p).has_value());
  data.features = random_matrix(20, 501, 8);
  EXPECT_FALSE(linear::has_interior_method(data.problem()));
  EXPECT_EQ(linear::interior_bytes(20, 501), 0);
  EXPECT_GT(linear::interior_bytes(20, 500), 20 * 500);
}

// Labels that say nothing, a huge cost and no tolerance: steps until the numbers run out of range.
TEST(InteriorPoint, AnswersAreFinite) {
  LinearData data = linear_classes(2000, 3, 1e6, 10);
  for (std::size_t i = 0; i < data.target.size(); ++i) data.target[i] = i % 2 == 0 ? 1 : -1;
  for (const Bias::Rule rule : {Bias::Rule::none, Bias::Rule::penalized, Bias::Rule::free}) {
    linear::Problem p = data.problem();
    p.bias.rule = rule;
    const auto found = interior(p, 1e-12);
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(std::isfinite(found->offset));
    for (const double b : found->beta) ASSERT_TRUE(std::isfinite(b));
  }
}

TEST(InteriorPoint, StopsWhenTold) {
  const LinearData data = linear_classes(20, 2, 1, 7);
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const qp::StopCheck stop({kEps, 0, 0}, control);
  EXPECT_FALSE(linear::solve_interior(data.problem(), stop).has_value());
}

TEST(InteriorPoint, RowsWithoutValuesAndOneClass) {
  const LinearData data{Matrix::dense(3, 2, {0, 0, 0, 0, 1, 1}).to_sparse(), {1, -1, 1}, {1, 1, 1}};
  const LinearData one_class{random_matrix(10, 2, 9), std::vector<double>(10, 1.0),
                             std::vector<double>(10, 2.0)};
  for (const LinearData& some : {data, one_class}) {
    for (const Bias::Rule rule : {Bias::Rule::none, Bias::Rule::penalized, Bias::Rule::free}) {
      linear::Problem p = some.problem();
      p.bias.rule = rule;
      expect_optimal(p);
    }
  }
}

}  // namespace
}  // namespace tamis::testing

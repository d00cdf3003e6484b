// Which problems have their distances by products, and that these reach the optimum all the same.
#include "svm/choose_distances.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/group.hpp"
#include "support/naive_qp.hpp"
#include "svm/train_binary.hpp"

namespace tamis::testing {
namespace {

struct TwoClasses {
  Matrix features;
  BinaryTask task;
  std::vector<double> cost;
};

// Two overlapping clouds; `shift` moves all rows away from the origin, which changes no distance.
TwoClasses two_classes(Index rows, Index cols, double cost, float shift = 0) {
  Random random(11);
  TwoClasses result;
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    const double target = i % 2 == 0 ? 1 : -1;
    result.task.rows.push_back(i);
    result.task.targets.push_back(target);
    for (Index j = 0; j < cols; ++j)
      values.push_back(static_cast<float>(0.3 * target + random.normal()) + shift);
  }
  result.features = Matrix::dense(rows, cols, std::move(values));
  result.cost.assign(usize(rows), cost);
  return result;
}

qp::Problem problem_of(const TwoClasses& data) {
  qp::Problem problem;
  for (std::size_t k = 0; k < data.cost.size(); ++k) {
    const double target = data.task.targets[k];
    problem.target.push_back(target);
    problem.upper.push_back(target > 0 ? data.cost[k] : 0);
    problem.lower.push_back(target < 0 ? -data.cost[k] : 0);
  }
  return problem;
}

DistanceBy chosen(const TwoClasses& data, const Kernel& kernel, double eps = 1e-3) {
  return choose_distances(kernel, data.features, data.task.rows, problem_of(data), eps, alone());
}

TEST(ChooseDistances, ByProductsWhereTheirRoundingDoesNotShow) {
  const Kernel kernel{.gamma = 0.05};
  const TwoClasses usual = two_classes(3000, 20, 1);
  EXPECT_EQ(chosen(usual, kernel), DistanceBy::products);
  EXPECT_EQ(chosen(usual, {.gamma = 50}), DistanceBy::differences) << "narrow kernel";
  EXPECT_EQ(chosen(usual, kernel, 1e-7), DistanceBy::differences) << "small tolerance";
  EXPECT_EQ(chosen(two_classes(3000, 20, 1e4), kernel), DistanceBy::differences) << "large C";
  EXPECT_EQ(chosen(two_classes(3000, 20, 1, 100), kernel), DistanceBy::differences)
      << "large norms";
  EXPECT_EQ(chosen(two_classes(3000, 20, 1, 1e25F), kernel), DistanceBy::differences)
      << "norms that overflow";
  EXPECT_EQ(chosen(two_classes(3000, 2, 1), kernel), DistanceBy::differences) << "few columns";
  EXPECT_EQ(chosen(two_classes(1000, 20, 1), kernel), DistanceBy::differences) << "few rows";
  EXPECT_EQ(chosen(usual, {.type = KernelType::laplacian, .gamma = 0.05}), DistanceBy::differences);
  TwoClasses sparse = usual;
  sparse.features = usual.features.to_sparse();
  EXPECT_EQ(chosen(sparse, kernel), DistanceBy::differences);
  qp::Problem unbounded = problem_of(usual);
  for (double& upper : unbounded.upper) upper = std::numeric_limits<double>::infinity();
  EXPECT_EQ(choose_distances(kernel, usual.features, usual.task.rows, unbounded, 1e-3, alone()),
            DistanceBy::differences)
      << "squared slacks";
}

// The conditions in double, as near to the limit of the choice as C lets them come.
TEST(ChooseDistances, TheOptimumIsReached) {
  const Kernel kernel{.gamma = 0.05};
  double cost = 1;
  while (chosen(two_classes(2500, 20, 2 * cost), kernel) == DistanceBy::products) cost *= 2;
  ASSERT_GE(cost, 2);
  const TwoClasses data = two_classes(2500, 20, cost);
  BinarySettings settings;
  settings.kernel = kernel;
  const BinaryResult result =
      train_binary(data.features, data.cost, data.task, nullptr, settings, {}, {});
  std::vector<double> beta(data.cost.size(), 0.0);
  for (std::size_t k = 0; k < result.machine.rows.size(); ++k)
    beta[usize(result.machine.rows[k])] = result.machine.coefficients[k];
  const double violation = kkt_violation(problem_of(data), gram(kernel, data.features), beta);
  EXPECT_LT(violation, 1.5 * settings.limits.eps) << "C " << cost;
}

}  // namespace
}  // namespace tamis::testing

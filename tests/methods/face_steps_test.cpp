// Steps of all free coefficients against the solver of src/qp, from one C to the next.
#include "methods/common/face_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/checked.hpp"
#include "support/random_data.hpp"
#include "svm/train_binary.hpp"

namespace tamis::testing {
namespace {

constexpr double kEps = 1e-3;

struct Problem {
  Matrix rows;
  StoredMatrix kernel;
  BinaryTask task;
  std::vector<double> weights;  // factors on C

  std::vector<double> costs(double cost) const {
    std::vector<double> result = weights;
    for (double& c : result) c *= cost;
    return result;
  }
};

// Two classes that overlap; some rows are there twice, with both labels. Every fifth row of the
// matrix is no row of the task.
Problem make_problem(const Kernel& kernel, Index count, std::uint64_t seed) {
  const Matrix first = random_matrix(count, 3, seed);
  std::vector<float> values;
  for (const Index half : {0, 1}) {
    for (Index i = 0; i < (half == 0 ? count : count / 10); ++i) {
      const auto row = first.dense_row(i);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  const Index all = count + count / 10;
  const Matrix rows = Matrix::dense(all, 3, std::move(values));
  Problem problem{rows, StoredMatrix::unfinished(kernel.type, rows).finished(kernel), {}, {}};
  for (Index i = 0; i < all; ++i) {
    problem.weights.push_back(1 + 0.25 * static_cast<double>(i % 3));
    if (i % 5 == 4) continue;
    const auto row = rows.dense_row(i);
    const bool inside = row[0] + 0.3F * std::sin(3 * row[1]) + 0.2F * std::sin(17 * row[2]) > 0;
    problem.task.rows.push_back(i);
    problem.task.targets.push_back(inside != (i >= count) ? 1 : -1);
  }
  return problem;
}

BinaryResult solve_by_pairs(const Problem& problem, double cost, const Kernel& kernel) {
  StoredRows source(problem.kernel, {problem.task.rows.begin(), problem.task.rows.end()});
  BinarySettings settings;
  settings.kernel = kernel;
  settings.limits.eps = kEps;
  return train_binary(source, problem.costs(cost), problem.task, nullptr, {}, settings, {});
}

double objective(const Problem& problem, const BinaryResult& result) {
  double sum = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < problem.task.rows.size() && k < result.machine.rows.size(); ++i) {
    if (problem.task.rows[i] != result.machine.rows[k]) continue;
    sum += result.machine.coefficients[k++] * (result.sums[i] / 2 - problem.task.targets[i]);
  }
  return sum;
}

FaceResult steps_from(const Problem& problem, double cost, const BinaryResult& start,
                      bool stopped = false) {
  return take_face_steps(problem.kernel, problem.costs(cost), problem.task, start.machine,
                         start.sums, kEps, [stopped] { return stopped; });
}

TEST(FaceSteps, ReachTheOptimumOfTheNextCost) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Kernel kernel{.type = KernelType::rbf, .gamma = 0.3};
    const Problem problem = make_problem(kernel, 300, seed);
    BinaryResult machine = solve_by_pairs(problem, 4, kernel);
    for (const double cost : {16.0, 64.0, 256.0, 1024.0}) {
      const FaceResult faces = steps_from(problem, cost, machine);
      ASSERT_TRUE(faces.converged) << seed << " " << cost;
      const BinaryResult pairs = solve_by_pairs(problem, cost, kernel);
      EXPECT_NEAR(objective(problem, faces.found), pairs.stats.objective,
                  1e-4 * std::abs(pairs.stats.objective));
      EXPECT_NEAR(faces.found.machine.offset, pairs.machine.offset, 0.01);
      double sum = 0;
      for (const double beta : faces.found.machine.coefficients) sum += beta;
      EXPECT_NEAR(sum, 0, 1e-9 * cost);
      machine = faces.found;
    }
  }
}

TEST(FaceSteps, SumsAreThoseOfTheCoefficients) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.3};
  const Problem problem = make_problem(kernel, 200, 7);
  const BinaryResult found = steps_from(problem, 64, solve_by_pairs(problem, 16, kernel)).found;
  for (std::size_t i = 0; i < problem.task.rows.size(); ++i) {
    double expected = 0;
    for (std::size_t k = 0; k < found.machine.rows.size(); ++k)
      expected +=
          found.machine.coefficients[k] *
          static_cast<double>(problem.kernel.row(found.machine.rows[k])[problem.task.rows[i]]);
    EXPECT_NEAR(found.sums[i], expected, 1e-7);
  }
}

TEST(FaceSteps, StoppedLeavesTheStart) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.3};
  const Problem problem = make_problem(kernel, 100, 1);
  const BinaryResult start = solve_by_pairs(problem, 4, kernel);
  const FaceResult faces = steps_from(problem, 4, start, true);
  EXPECT_FALSE(faces.converged);
  EXPECT_EQ(faces.found.machine.rows, start.machine.rows);
  EXPECT_EQ(faces.found.machine.coefficients, start.machine.coefficients);
  EXPECT_EQ(faces.found.stats.bounded_support_vectors, start.stats.bounded_support_vectors);
}

TEST(FaceSteps, NothingIsDoneForOtherRows) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.3};
  Problem problem = make_problem(kernel, 100, 1);
  const BinaryResult start = solve_by_pairs(problem, 4, kernel);
  problem.task.rows.erase(problem.task.rows.begin(), problem.task.rows.begin() + 50);
  problem.task.targets.erase(problem.task.targets.begin(), problem.task.targets.begin() + 50);
  const FaceResult faces = steps_from(problem, 16, start);
  EXPECT_FALSE(faces.converged);
  EXPECT_EQ(faces.work, 0);
}

// The solver takes over.
TEST(FaceSteps, GiveUpOnAKernelThatIsNotPositiveDefinite) {
  const Kernel kernel{.type = KernelType::sigmoid, .gamma = 0.5, .coef0 = -1};
  const Problem problem = make_problem(kernel, 100, 1);
  const BinaryResult start = solve_by_pairs(problem, 1, kernel);
  const FaceResult faces = steps_from(problem, 4, start);
  for (const double beta : faces.found.machine.coefficients)
    EXPECT_TRUE(std::isfinite(beta) && std::abs(beta) <= 4 * 1.5);
}

}  // namespace
}  // namespace tamis::testing

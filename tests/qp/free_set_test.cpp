// The active-set method against the slow solver that cannot be wrong by much.
#include "qp/free_set.hpp"

#include <gtest/gtest.h>

#include "support/naive_qp.hpp"

namespace tamis::testing {
namespace {

/// A matrix known to more than float, which is what the method is for.
class PreciseGram : public StoredGram {
 public:
  explicit PreciseGram(const Gram& k) : StoredGram(k), exact_(k) {}
  bool precise_rows(std::span<const Index> points, double* values) override {
    for (std::size_t r = 0; r < points.size(); ++r) {
      for (Index c = 0; c < exact_.size; ++c)
        values[r * usize(exact_.size) + usize(c)] = exact_.at(points[r], c);
    }
    return true;
  }

 private:
  Gram exact_;
};

std::optional<qp::Solution> solved(const qp::Problem& problem, StoredGram& source, double eps) {
  const RunControl control;
  qp::StopCheck stop({.eps = eps}, control);
  return qp::solve_free_set(problem, source, stop);
}

void expect_optimal(const qp::Problem& problem, const Gram& k) {
  PreciseGram source(k);
  const auto solution = solved(problem, source, 1e-9);
  ASSERT_TRUE(solution.has_value());
  EXPECT_LT(infeasibility(problem, solution->beta), 1e-10);
  EXPECT_LT(kkt_violation(problem, k, solution->beta), 2e-9);
  EXPECT_NEAR(solution->objective, naive_objective(problem, k, solution->beta), 1e-9);
  const double expected = naive_objective(problem, k, naive_solve(problem, k));
  // The slow solver stops a little above the optimum where hulls meet.
  EXPECT_LE(solution->objective, expected + 1e-9);
  EXPECT_NEAR(solution->objective, expected, 1e-6 * std::max(1.0, std::abs(expected)));
}

std::vector<double> alternating(Index rows) {
  std::vector<double> y;
  for (Index i = 0; i < rows; ++i) y.push_back(i % 2 == 0 ? 1 : -1);
  return y;
}

// Any feasible start will do.
qp::Problem with_start(qp::Problem problem) {
  if (problem.start.empty()) problem.start.assign(problem.target.size(), 0.0);
  return problem;
}

TEST(FreeSet, HullsOfRandomPoints) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 4 + 2 * static_cast<Index>(seed % 9);
    Matrix data = random_matrix(rows, 1 + static_cast<Index>(seed % 4), seed);
    const Kernel kernel = seed % 2 == 0 ? Kernel{.type = KernelType::rbf, .gamma = 0.5}
                                        : Kernel{.type = KernelType::linear};
    const double limit = seed % 3 == 0 ? 1 : 2.5 / static_cast<double>(rows);
    expect_optimal(hull_problem(alternating(rows), std::min(1.0, limit)), gram(kernel, data));
  }
}

TEST(FreeSet, SoftAndSquaredSlacks) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 6 + static_cast<Index>(seed % 11);
    const Gram k = gram({.type = KernelType::rbf, .gamma = 0.7}, random_matrix(rows, 2, seed));
    expect_optimal(with_start(svc_problem(alternating(rows), seed % 2 == 0 ? 0.3 : 5.0)), k);
    expect_optimal(with_start(l2_problem(alternating(rows), 0.5)), k);
  }
}

// A regression without a tube: coefficients of zero are free, and their rows are needed.
TEST(FreeSet, RegressionWithoutTube) {
  const Dataset data = wave(12, 2, 5);
  std::vector<double> targets;
  for (Index i = 0; i < data.rows(); ++i) targets.push_back(data.labels().number(i));
  const Gram k = gram({.gamma = 0.7}, data.features());
  for (const double cost : {0.2, 5.0}) expect_optimal(with_start(svr_problem(targets, cost, 0)), k);
}

// Points that depend on each other, and copies: the matrix of the free ones is singular.
TEST(FreeSet, DependentPoints) {
  const Matrix square = Matrix::dense(8, 2, {1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 0, -1, 0});
  const qp::Problem problem = hull_problem(alternating(8), 1);
  expect_optimal(problem, gram({.type = KernelType::linear}, square));
}

// As pairs leave them where they converge slowly: nearly all coefficients are free at the start,
// where the rows span two dimensions, so that most of them have to go to a bound.
TEST(FreeSet, ManyFreePointsThatDependOnEachOther) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 40;
    qp::Problem problem = svc_problem(alternating(rows), 5.0);
    for (Index i = 0; i < rows; ++i) problem.start.push_back(i % 2 == 0 ? 2.5 : -2.5);
    expect_optimal(problem, gram({.type = KernelType::linear}, random_matrix(rows, 2, seed)));
  }
}

// A kernel that is not positive definite has no optimum to step to: nothing, or an answer that
// meets the conditions, but no numbers that are not finite.
TEST(FreeSet, IndefiniteKernelsEnd) {
  Index solved_ones = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 20;
    Gram k = gram({.type = KernelType::linear}, random_matrix(rows, 3, seed));
    for (Index i = 0; i < rows; ++i)
      k.values[usize(i * rows + i)] -= seed % 3 == 0 ? 1e-3 : seed % 3 == 1 ? 2 : 50;
    PreciseGram source(k);
    const auto solution = solved(with_start(svc_problem(alternating(rows), 5.0)), source, 1e-9);
    if (!solution) continue;
    ++solved_ones;
    EXPECT_LT(kkt_violation(svc_problem(alternating(rows), 5.0), k, solution->beta), 2e-9);
  }
  EXPECT_GT(solved_ones, 0);
}

TEST(FreeSet, HullsThatMeetHaveDistanceZero) {
  const Matrix line = Matrix::dense(4, 1, {0, 1, 2, 3});
  StoredGram source(gram({.type = KernelType::linear}, line));
  const auto solution = solved(hull_problem(alternating(4), 1), source, 1e-9);
  ASSERT_TRUE(solution.has_value());
  EXPECT_NEAR(solution->objective, 0, 1e-12);
}

TEST(FreeSet, GivesUpWhenToldToStop) {
  StoredGram source(gram({.type = KernelType::linear}, random_matrix(10, 2, 1)));
  std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  qp::StopCheck stop({.eps = 1e-9}, control);
  EXPECT_FALSE(qp::solve_free_set(hull_problem(alternating(10), 1), source, stop).has_value());
}

}  // namespace
}  // namespace tamis::testing

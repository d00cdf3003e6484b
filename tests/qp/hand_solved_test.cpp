// Problems whose answers are known on paper.
#include <gtest/gtest.h>

#include "qp/solver.hpp"
#include "support/naive_qp.hpp"

namespace tamis::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Kernel kLinear{.type = KernelType::linear};

qp::Solution solved(const qp::Problem& problem, const Gram& k, double eps = 1e-6) {
  StoredGram source(k);
  const RunControl control;
  qp::StopCheck stop({.eps = eps}, control);
  return qp::solve(problem, source, stop);
}

void expect_beta(const qp::Solution& solution, const std::vector<double>& expected,
                 double tolerance = 1e-5) {
  ASSERT_EQ(solution.beta.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(solution.beta[i], expected[i], tolerance) << "beta " << i;
}

// x = -1 and +3: w = 1/2, so f(x) = (x - 1) / 2 and alpha = 2 / |x1 - x2|^2.
TEST(HandSolved, TwoPoints) {
  const Gram k = gram(kLinear, Matrix::dense(2, 1, {-1, 3}));
  const qp::Solution s = solved(svc_problem({-1, 1}, 10), k);
  expect_beta(s, {-0.125, 0.125});
  EXPECT_NEAR(s.bias[0], -0.5, 1e-5);
  EXPECT_NEAR(s.objective, -0.125, 1e-9);
  EXPECT_NEAR(s.duality_gap, 0, 1e-6);
  EXPECT_EQ(s.stop_reason, StopReason::converged);
}

// The same with C below the free optimum: both at the bound, f(x) = 4 C x + b with b between what
// the two margins ask; by symmetry of the slacks the middle, -4 C.
TEST(HandSolved, TwoPointsAtTheBound) {
  const Gram k = gram(kLinear, Matrix::dense(2, 1, {-1, 3}));
  const qp::Solution s = solved(svc_problem({-1, 1}, 0.05), k);
  EXPECT_EQ(s.beta, (RowVector<double>{-0.05, 0.05}));
  EXPECT_NEAR(s.bias[0], -0.2, 1e-6);
  EXPECT_NEAR(s.objective, 0.5 * 0.0025 * 16 - 0.1, 1e-9);
}

// Three points on a line at 0, 1 (negative) and 3 (positive): only 1 and 3 support, alpha = 1/2.
TEST(HandSolved, ThreePointsOneIdle) {
  const Gram k = gram(kLinear, Matrix::dense(3, 1, {0, 1, 3}));
  const qp::Solution s = solved(svc_problem({-1, -1, 1}, 100), k);
  expect_beta(s, {0, -0.5, 0.5});
  EXPECT_NEAR(s.bias[0], -2, 1e-5);
  EXPECT_NEAR(s.objective, -0.5, 1e-9);
}

// (1, 1) and (1, -1) against (-1, 0): w = (1, 0), alpha = 1/2 for the lone one, 1/4 for each of the
// others.
TEST(HandSolved, TriangleSharesItsWeight) {
  const Gram k = gram(kLinear, Matrix::dense(3, 2, {1, 1, 1, -1, -1, 0}));
  const qp::Solution s = solved(svc_problem({1, 1, -1}, 10), k);
  expect_beta(s, {0.25, 0.25, -0.5});
  EXPECT_NEAR(s.bias[0], 0, 1e-5);
}

// XOR at (+-1, +-1) under (<x, z> + 1)^2: every alpha is 1/8 (Haykin, "Neural Networks", 6.6).
TEST(HandSolved, ExclusiveOr) {
  const Kernel square{.type = KernelType::polynomial, .gamma = 1, .coef0 = 1, .degree = 2};
  const Gram k = gram(square, Matrix::dense(4, 2, {-1, -1, -1, 1, 1, -1, 1, 1}));
  const qp::Solution s = solved(svc_problem({-1, 1, 1, -1}, 10), k);
  expect_beta(s, {-0.125, 0.125, 0.125, -0.125});
  EXPECT_NEAR(s.bias[0], 0, 1e-5);
  EXPECT_NEAR(s.objective, -0.25, 1e-8);
}

// Targets 0, 1, 2 at x = 0, 1, 2 with a tube of 1/2: the flattest line that touches both ends has
// slope 1/2; beta = +-1/4 at the ends. f = 0.5 x + 0.5 misses none by more than 1/2.
TEST(HandSolved, TubeOnThreePoints) {
  const Gram k = gram(kLinear, Matrix::dense(3, 1, {0, 1, 2}));
  const qp::Solution s = solved(svr_problem({0, 1, 2}, 10, 0.5), k);
  expect_beta(s, {-0.25, 0, 0.25});
  EXPECT_NEAR(s.bias[0], 0.5, 1e-5);
  EXPECT_NEAR(s.objective, 0.5 * 0.25 - 0.5 + 0.25, 1e-8);
  EXPECT_NEAR(s.duality_gap, 0, 1e-6);
}

// A tube wider than the targets: nothing to do, and zero is optimal although it is a kink.
TEST(HandSolved, WideTubeStaysAtZero) {
  const Gram k = gram(kLinear, Matrix::dense(3, 1, {0, 1, 2}));
  const qp::Solution s = solved(svr_problem({0.2, 0.1, 0.3}, 10, 0.5), k);
  EXPECT_EQ(s.beta, (RowVector<double>{0, 0, 0}));
  EXPECT_EQ(s.iterations, 0);
  EXPECT_GE(s.bias[0], -0.2 - 1e-6);
  EXPECT_LE(s.bias[0], 0.6 + 1e-6);
}

// A square's right and left sides: the nearest points of the hulls are anywhere on the sides as
// long as heights agree; the distance 2 is what counts, so 1/2 |w|^2 = 2.
TEST(HandSolved, HullsOfASquare) {
  const Gram k = gram(kLinear, Matrix::dense(4, 2, {1, 1, 1, -1, -1, 1, -1, -1}));
  const qp::Problem p = hull_problem({1, 1, -1, -1}, 1);
  const qp::Solution s = solved(p, k);
  EXPECT_NEAR(s.objective, 2, 1e-6);
  EXPECT_LT(infeasibility(p, s.beta), 1e-9);
}

// (0,0), (1,0) against (3,0), (4,0) with weights up to 0.6: the hulls shrink to mixtures 0.6 / 0.4,
// at x = 0.6 and 3.4.
TEST(HandSolved, ReducedHullsOnALine) {
  const Gram k = gram(kLinear, Matrix::dense(4, 1, {0, 1, 3, 4}));
  const qp::Problem p = hull_problem({1, 1, -1, -1}, 0.6);
  const qp::Solution s = solved(p, k);
  expect_beta(s, {0.4, 0.6, -0.6, -0.4});
  EXPECT_NEAR(s.objective, 0.5 * 2.8 * 2.8, 1e-5);
}

// The multipliers of the two sums close the gap: objective = -1/2 |w|^2 - slacks - sum bias_g s_g.
TEST(HandSolved, HullsReportAClosedGap) {
  const Gram k = gram(kLinear, Matrix::dense(4, 1, {0, 1, 3, 4}));
  const qp::Problem p = hull_problem({1, 1, -1, -1}, 0.6);
  const qp::Solution s = solved(p, k);
  EXPECT_NEAR(naive_gap(p, k, s.beta, s.bias), 0, 1e-4);
  EXPECT_NEAR(s.duality_gap, 0, 1e-4);
}

// Two points with squared slacks: alpha (|x1 - x2|^2 + 2 ridge) = 2.
TEST(HandSolved, TwoPointsSquaredSlacks) {
  const Gram k = gram(kLinear, Matrix::dense(2, 1, {-1, 3}));
  const double cost = 0.25;
  const qp::Solution s = solved(l2_problem({-1, 1}, cost), k);
  const double alpha = 2 / (16 + 2 / (2 * cost));
  expect_beta(s, {-alpha, alpha});
  EXPECT_NEAR(s.duality_gap, 0, 1e-6);
}

// Hard margin: no bounds at all on a separable problem.
TEST(HandSolved, InfiniteBounds) {
  const Gram k = gram(kLinear, Matrix::dense(3, 1, {0, 1, 1.01F}));
  const qp::Solution s = solved(svc_problem({-1, -1, 1}, kInfinity), k, 1e-6);
  const double gap = static_cast<double>(1.01F) - 1;
  EXPECT_NEAR(s.beta[2], 2 / (gap * gap), 2e-2 * 2 / (gap * gap));  // float kernel values
  EXPECT_EQ(s.beta[0], 0);
}

// Bounds that leave no room: lower = upper = start.
TEST(HandSolved, FixedCoefficientsStay) {
  const Gram k = gram(kLinear, Matrix::dense(4, 1, {0, 1, 3, 4}));
  qp::Problem p = svc_problem({-1, -1, 1, 1}, 10);
  p.start = {-0.05, 0, 0, 0.05};
  p.lower[0] = p.upper[0] = -0.05;
  p.lower[3] = p.upper[3] = 0.05;
  const qp::Solution s = solved(p, k);
  EXPECT_EQ(s.beta[0], -0.05);
  EXPECT_EQ(s.beta[3], 0.05);
  EXPECT_NEAR(s.objective, naive_objective(p, k, naive_solve(p, k)), 1e-6);
}

TEST(HandSolved, OnePoint) {
  const Gram k = gram(kLinear, Matrix::dense(1, 1, {2}));
  const qp::Solution s = solved(svc_problem({1}, 1), k);
  EXPECT_EQ(s.beta, RowVector<double>{0});
  EXPECT_TRUE(std::isfinite(s.bias[0]));
}

}  // namespace
}  // namespace tamis::testing

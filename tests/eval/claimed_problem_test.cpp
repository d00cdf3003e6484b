#include "eval/claimed_problem.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ClaimedProblem classes(std::vector<double> targets, std::vector<double> cost) {
  ClaimedProblem problem;
  problem.rows = iota_rows(static_cast<Index>(targets.size()));
  problem.targets = std::move(targets);
  problem.cost = std::move(cost);
  return problem;
}

ClaimedProblem numbers(std::vector<double> targets, double cost, double tube) {
  ClaimedProblem problem = classes(std::move(targets), {});
  problem.is_regression = true;
  problem.tube = tube;
  problem.cost.assign(problem.targets.size(), cost);
  return problem;
}

std::vector<double> shared(const ClaimedProblem& problem, double total) {
  std::vector<double> beta(problem.targets.size(), 0.0);
  std::vector<std::size_t> members(beta.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  share_coefficient(problem, members, total, beta);
  return beta;
}

MachineCertificate assess(const ClaimedProblem& problem, std::span<const double> beta,
                          std::span<const double> values, double squared_norm, double eps) {
  Assessment assessment;
  assessment.add(problem, beta, values, eps);
  return assessment.result(squared_norm);
}

// x = -1 and 3, f(x) = (x - 1) / 2, alpha = 1/8 each: primal = dual = 1/8.
TEST(Assess, TwoPoints) {
  const auto result = assess(classes({-1, 1}, {10, 10}), std::vector{-0.125, 0.125},
                             std::vector{-1.0, 1.0}, 0.25, 1e-3);
  EXPECT_DOUBLE_EQ(result.primal, 0.125);
  EXPECT_DOUBLE_EQ(result.dual, 0.125);
  EXPECT_EQ(result.violation, 0);
  EXPECT_EQ(result.violating_rows, 0);
  EXPECT_EQ(result.worst_row, -1);
}

TEST(Assess, EachConditionOfClasses) {
  // alpha 0 inside the margin, alpha C outside it, alpha free off it, each by 0.25; and three
  // that are as they should be.
  const auto result = assess(classes({1, 1, -1, 1, 1, -1}, {1, 1, 1, 1, 1, 1}),
                             std::vector{0.0, 1.0, -0.5, 0.0, 1.0, -0.5},
                             std::vector{0.75, 1.25, -1.25, 3.0, -2.0, -1.0}, 0.0, 0.1);
  EXPECT_EQ(result.violating_rows, 3);
  EXPECT_DOUBLE_EQ(result.violation, 0.25);
  EXPECT_DOUBLE_EQ(result.mean_violation, 0.25);
  EXPECT_EQ(result.worst_row, 0);
  EXPECT_DOUBLE_EQ(result.sum_breach, 1.0);
  EXPECT_DOUBLE_EQ(result.primal, 0.25 + 3.0);  // slacks: 0.25 of row 0, 3 of row 4
}

TEST(Assess, EachConditionOfTubes) {
  const ClaimedProblem problem = numbers({1, 1, 1, 1, 1, 1}, 2, 0.5);
  // beta 0 outside the tube; C inside it; -C above; free + inside; then one right of each kind.
  const auto result = assess(problem, std::vector{0.0, 2.0, -2.0, 1.0, 0.0, -1.0},
                             std::vector{0.25, 0.75, 1.0, 0.75, 1.25, 1.5}, 0.0, 0.1);
  EXPECT_EQ(result.violating_rows, 4);
  EXPECT_DOUBLE_EQ(result.violation, 0.5);
  EXPECT_DOUBLE_EQ(result.mean_violation, (0.25 + 0.25 + 0.5 + 0.25) / 4);
}

TEST(Assess, BoundsAreChecked) {
  const auto result =
      assess(classes({1, -1}, {1, 1}), std::vector{1.5, 0.25}, std::vector{1.0, -1.0}, 0.0, 0.1);
  EXPECT_DOUBLE_EQ(result.bound_breach, 0.5);  // 1.5 above C = 1; 0.25 is above the 0 of a -1
}

// alpha (|x1 - x2|^2 + 2 / (2C)) = 2 for two points with squared slacks.
TEST(Assess, SquaredSlacksCloseTheirGap) {
  const double cost = 0.25;
  const double alpha = 2.0 / (16 + 1 / cost);
  ClaimedProblem problem = classes({-1, 1}, {cost, cost});
  problem.loss = SlackLoss::l2;
  const double margin = 1 - alpha / (2 * cost);
  const auto result = assess(problem, std::vector{-alpha, alpha}, std::vector{-margin, margin},
                             16 * alpha * alpha, 1e-9);
  EXPECT_NEAR(result.gap, 0, 1e-12);
  EXPECT_NEAR(result.violation, 0, 1e-12);
}

// A hard margin at half the scale it should have is still the optimum's direction: the gap is
// taken at the best scale, the violation is not.
TEST(Assess, HardMarginGapIsTakenAtTheBestScale) {
  const auto result = assess(classes({-1, 1}, {kInfinity, kInfinity}), std::vector{-0.0625, 0.0625},
                             std::vector{-0.5, 0.5}, 0.0625, 1e-3);
  EXPECT_NEAR(result.primal, 0.125, 1e-12);
  EXPECT_NEAR(result.dual, 0.125, 1e-12);
  EXPECT_DOUBLE_EQ(result.violation, 0.5);
}

TEST(Assess, HardMarginThatIsNotKept) {
  const auto result = assess(classes({-1, 1}, {kInfinity, kInfinity}), std::vector{-0.125, 0.125},
                             std::vector{0.5, 1.5}, 0.25, 1e-3);
  EXPECT_EQ(result.primal, kInfinity);
  EXPECT_EQ(result.gap, kInfinity);
}

TEST(Assess, PartsInAnyOrderGiveTheSame) {
  const std::vector<double> targets{1, -1, 1, -1, 1};
  const std::vector<double> beta{0.1, -0.7, 0.6, 0.0, 1e-17};
  const std::vector<double> values{0.3, -0.2, 1.7, 0.1, 0.3};
  const ClaimedProblem whole = classes(targets, {1, 1, 1, 1, 1});
  const MachineCertificate wanted = assess(whole, beta, values, 0.5, 0.1);
  Assessment parts;
  for (const std::size_t k : {3U, 0U, 4U, 2U, 1U}) {
    ClaimedProblem part = classes({targets[k]}, {1});
    part.rows = {static_cast<Index>(k)};
    parts.add(part, std::span(beta).subspan(k, 1), std::span(values).subspan(k, 1), 0.1);
  }
  const MachineCertificate result = parts.result(0.5);
  EXPECT_EQ(result.primal, wanted.primal);
  EXPECT_EQ(result.dual, wanted.dual);
  EXPECT_EQ(result.sum_breach, wanted.sum_breach);
  EXPECT_EQ(result.mean_violation, wanted.mean_violation);
  EXPECT_EQ(result.worst_row, wanted.worst_row);
  EXPECT_EQ(result.rows, 5);
  // Sum of beta (f - 1).
  EXPECT_NEAR(parts.squared_norm(1), 0.1 * -0.7 + 0.7 * 1.2 + 0.6 * 0.7, 1e-12);
}

TEST(Share, OneMemberTakesAll) { EXPECT_EQ(shared(classes({1}, {1}), 5), std::vector{5.0}); }

TEST(Share, BoundsAreFilledInTurn) {
  EXPECT_EQ(shared(classes({1, 1, 1}, {1, 2, 1}), 2.5), (std::vector{1.0, 1.5, 0.0}));
  EXPECT_EQ(shared(classes({-1, -1}, {1, 2}), -1), (std::vector{0.0, -1.0}));
}

// 0.7 + 0.7 + 0.7 - 0.7 - 0.7 is not 0.7: the last row keeps a rest, which is no free coefficient.
TEST(Share, RoundingOfASumIsNoViolation) {
  const auto problem = classes({-1, -1, -1}, {0.7, 0.7, 0.7});
  const auto beta = shared(problem, 0);
  EXPECT_EQ(assess(problem, beta, std::vector{-2.0, -2.0, -2.0}, 1, 1e-3).violation, 0);
}

// The rest of a sum may go to a row within the tube, which then has a coefficient of 1e-16 and a
// target far from the edge that this coefficient would ask for.
TEST(Share, RoundingWithinTheTubeIsNoViolation) {
  const auto problem = numbers({-2.4, -1.9, -1.0, -0.3, 0.1, 0.6, 1.1, 1.5}, 0.439, 0.217);
  const std::vector<double> values(8, 0.0);
  for (const double rest : {-1e-16, 0.0, 1e-16}) {
    const auto beta = shared(problem, -0.439 + rest);
    EXPECT_EQ(assess(problem, beta, values, 1, 1e-3).violation, 0) << rest;
  }
}

// The same x with both labels: nothing is better than both at C, and w does not feel it.
TEST(Share, ContradictingRowsGoToTheirBounds) {
  EXPECT_EQ(shared(classes({1, -1}, {2, 2}), 0), (std::vector{2.0, -2.0}));
  EXPECT_EQ(shared(classes({1, -1}, {2, 2}), 1), (std::vector{2.0, -1.0}));
}

TEST(Share, TargetsOutsideTheTubePull) {
  // Targets 2 and 0 with a tube of 1/2: slopes 2.5, 1.5 and 0.5, -0.5.
  EXPECT_EQ(shared(numbers({2, 0}, 1, 0.5), 0), (std::vector{1.0, -1.0}));
  EXPECT_EQ(shared(numbers({2, 0}, 1, 0.5), 1.5), (std::vector{1.0, 0.5}));
  EXPECT_EQ(shared(numbers({1, 1}, 1, 0.5), 0), (std::vector{0.0, 0.0}));
}

TEST(Share, SquaredSlacksShareByCost) {
  ClaimedProblem problem = classes({1, 1}, {1, 3});
  problem.loss = SlackLoss::l2;
  const auto beta = shared(problem, 2);
  EXPECT_NEAR(beta[0], 0.5, 1e-9);
  EXPECT_NEAR(beta[1], 1.5, 1e-9);
}

TEST(Share, WhatNoBoundAllowsIsVisible) {
  const auto beta = shared(classes({1, 1}, {1, 1}), 3);
  EXPECT_DOUBLE_EQ(beta[0] + beta[1], 3);
  EXPECT_DOUBLE_EQ(beta[1], 2);
}

}  // namespace
}  // namespace tamis::testing

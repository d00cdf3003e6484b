#include "methods/ensemble/ensemble_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

struct Rows {
  std::vector<double> targets;
  std::vector<double> weights;
};

Rows rows_of(Index count, std::uint64_t seed) {
  Random random(seed);
  Rows rows;
  for (Index i = 0; i < count; ++i) {
    rows.targets.push_back(random.uniform() < 0.5 ? 1 : -1);
    rows.weights.push_back(random.uniform(0.5, 2));
  }
  return rows;
}

// Right about the rows more often than not.
MemberValues guess(const Rows& rows, double skill, std::uint64_t seed) {
  Random random(seed, 5);
  MemberValues member;
  for (const double t : rows.targets)
    member.values.push_back(static_cast<float>(skill * t + random.normal()));
  return member;
}

qp::Limits precise() { return {1e-6, 0, 0}; }

TEST(EnsembleWeights, AverageIsTheMeanOfWhoHasNotSeenTheRow) {
  const Rows rows{{1, 1, -1}, {1, 2, 3}};
  EnsembleWeights weights(Combination::average, 1, rows.targets, rows.weights, 1);
  weights.add({{3, -1, 1}, {0}});
  // Nobody else has a word on row 0 yet: its own value stands.
  EXPECT_DOUBLE_EQ(weights.accuracy(), 1.0 / 6);
  weights.add({{-2, 4, 2}, {2}});
  // Unseen: -2, (-1 + 4) / 2, 1. All: 0.5, 1.5, 1.5.
  EXPECT_DOUBLE_EQ(weights.accuracy(), 2.0 / 6);
  EXPECT_DOUBLE_EQ(weights.training_accuracy(), 3.0 / 6);
  EXPECT_EQ(weights.member_weights(), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(weights.offset(), 0);
  EXPECT_FALSE(weights.wants_solving());
}

TEST(EnsembleWeights, LinearIsTheLinearMachine) {
  const Rows rows = rows_of(300, 1);
  for (const Combination how : {Combination::linear, Combination::nonnegative}) {
    const double whole = std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
    EnsembleWeights weights(how, 0.5 * whole, rows.targets, rows.weights, 1);
    std::vector<float> matrix(300 * 6);
    for (std::size_t m = 0; m < 6; ++m) {
      MemberValues member = guess(rows, m == 2 ? -0.5 : 0.7, 10 + m);
      for (std::size_t i = 0; i < 300; ++i) matrix[i * 6 + m] = member.values[i];
      weights.add(std::move(member));
      if (m % 2 == 0) weights.solve({0.1, 0, 0}, {});  // a start for the next
    }
    weights.solve(precise(), {});
    linear::Problem problem;
    problem.features = Matrix::dense(300, 6, matrix);
    problem.target = rows.targets;
    std::vector<double> cost = rows.weights;
    for (double& c : cost) c *= 0.5;
    problem.cost = cost;
    problem.bias = {Bias::Rule::penalized, 1};
    problem.nonnegative = how == Combination::nonnegative;
    const RunControl control;
    qp::StopCheck stop(precise(), control);
    const linear::Solution expected = linear::solve(problem, stop, 7);
    const std::vector<double> found = weights.member_weights();
    for (std::size_t m = 0; m < 6; ++m) EXPECT_NEAR(found[m], expected.weights[m], 1e-3);
    EXPECT_NEAR(weights.offset(), expected.offset, 1e-3);
    EXPECT_EQ(found[2] < 0, how == Combination::linear);
    double right = 0;
    for (std::size_t i = 0; i < 300; ++i) {
      double value = weights.offset();
      for (std::size_t m = 0; m < 6; ++m)
        value += found[m] * static_cast<double>(matrix[i * 6 + m]);
      right += (value > 0) == (rows.targets[i] > 0) ? rows.weights[i] : 0;
    }
    EXPECT_NEAR(weights.accuracy(), right / whole, 1e-9);
    EXPECT_NEAR(weights.training_accuracy(), right / whole, 1e-9);
  }
}

// A member that knows its own rows by heart and nothing else is trusted less when this is known.
// (Not at all it cannot be: on these rows it stands for the others.)
TEST(EnsembleWeights, LearningByHeartDoesNotPay) {
  const Rows rows = rows_of(1000, 2);
  const auto weight_of_parrot = [&](bool is_known) {
    EnsembleWeights weights(Combination::linear, 1000, rows.targets, rows.weights, 1);
    for (std::uint64_t m = 0; m < 5; ++m) weights.add(guess(rows, 0.5, 20 + m));
    MemberValues parrot = guess(rows, 0, 30);
    for (Index i = 0; i < 300; ++i) {
      parrot.values[usize(i)] = static_cast<float>(rows.targets[usize(i)]);
      if (is_known) parrot.seen.push_back(i);
    }
    weights.add(std::move(parrot));
    weights.solve(precise(), {});
    return std::abs(weights.member_weights().back());
  };
  EXPECT_LT(weight_of_parrot(true), 0.75 * weight_of_parrot(false));
}

TEST(EnsembleWeights, TheCandidateThatHelpsMostIsChosen) {
  const Rows rows = rows_of(500, 3);
  for (const Combination how :
       {Combination::average, Combination::linear, Combination::nonnegative}) {
    EnsembleWeights weights(how, 1000, rows.targets, rows.weights, 1);
    weights.add(guess(rows, 0.5, 40));
    std::vector<MemberValues> candidates;
    for (const double skill : {0.0, 0.2, 1.5, 0.4})
      candidates.push_back(guess(rows, skill, 41 + candidates.size()));
    EXPECT_EQ(weights.choose(candidates), 2U);
    // Knowing the rows it was trained on is no skill.
    MemberValues parrot = guess(rows, 0, 50);
    for (Index i = 0; i < 400; ++i) {
      parrot.values[usize(i)] = static_cast<float>(3 * rows.targets[usize(i)]);
      parrot.seen.push_back(i);
    }
    candidates[0] = std::move(parrot);
    EXPECT_EQ(weights.choose(candidates), 2U);
  }
}

TEST(EnsembleWeights, SolvesNowAndThen) {
  const Rows rows = rows_of(50, 4);
  EnsembleWeights weights(Combination::linear, 1000, rows.targets, rows.weights, 1);
  int solved = 0;
  for (std::uint64_t m = 0; m < 100; ++m) {
    weights.add(guess(rows, 0.5, m));
    if (!weights.wants_solving()) continue;
    weights.solve({0.1, 100, 0}, {});
    ++solved;
  }
  EXPECT_EQ(solved, 5);  // with 1, 3, 9, 27 and 81 members
}

// A run that is stopped keeps the weights it has.
TEST(EnsembleWeights, NoTimeLeavesUsefulWeights) {
  const Rows rows = rows_of(200, 5);
  EnsembleWeights weights(Combination::linear, 1000, rows.targets, rows.weights, 1);
  for (std::uint64_t m = 0; m < 3; ++m) weights.add(guess(rows, 1.5, 60 + m));
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  EXPECT_EQ(weights.solve(precise(), control), StopReason::interrupted);
  EXPECT_GT(weights.member_weights()[0], 0);
  EXPECT_GT(weights.accuracy(), 0.85);
}

}  // namespace
}  // namespace tamis::testing

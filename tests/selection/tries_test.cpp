// Which tries count as best, against hand-made cases and a naive twin.
#include "selection/tries.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "fake_series.hpp"

namespace tamis::testing {
namespace {

Try tried(double gamma, double error) { return {at(1, gamma), {1000, 0.1, error}}; }

TEST(Tries, StandardErrorsByHand) {
  EXPECT_NEAR(standard_error(0.1, Task::classification, 900), 0.01, 1e-15);
  EXPECT_EQ(standard_error(0, Task::classification, 900), 0);
  // The variance of a squared normal residual is twice its squared mean.
  EXPECT_NEAR(standard_error(3, Task::regression, 200), 0.3, 1e-15);
}

TEST(Tries, CloseToBestByHand) {
  // 900 rows and an error of 0.1: the standard error is 0.01.
  const std::vector<Try> tries{tried(1, 0.125), tried(2, 0.1), tried(3, 0.109), tried(4, 0.111)};
  const std::vector<Try> one = close_to_best(tries, 1, 900);
  ASSERT_EQ(one.size(), 2U);
  EXPECT_EQ(one[0].trial.error, 0.1);
  EXPECT_EQ(one[1].trial.error, 0.109);
  EXPECT_EQ(close_to_best(tries, 0, 900).size(), 1U);
  EXPECT_EQ(close_to_best(tries, 3, 900).size(), 4U);
  // Four times the rows, half the standard error.
  EXPECT_EQ(close_to_best(tries, 1, 3600).size(), 1U);
}

TEST(Tries, TheWidestKernelOfEqualsWins) {
  // Half a standard error is 0.005.
  const std::vector<Try> tries{tried(8, 0.1), tried(2, 0.104), tried(1, 0.106), tried(4, 0.102)};
  EXPECT_EQ(smoothest_of_best(tries, 900).trial.error, 0.104);
  const std::vector<Try> same_gamma{tried(2, 0.104), tried(2, 0.1)};
  EXPECT_EQ(smoothest_of_best(same_gamma, 900).trial.error, 0.1);
}

TEST(Tries, SmoothestOfBestAsDoneNaively) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Try> tries;
    for (int t = 0; t < 12; ++t)
      tries.push_back(tried(static_cast<double>(random.below(5)), random.uniform(0.1, 0.13)));
    double lowest = 1;
    for (const Try& one : tries) lowest = std::min(lowest, one.trial.error);
    const double most = lowest + 0.5 * std::sqrt(lowest * (1 - lowest) / 900);
    const Try* best = nullptr;
    for (const Try& one : tries) {
      if (one.trial.error > most) continue;
      const bool wider = best == nullptr || one.options.gamma->value < best->options.gamma->value;
      const bool better = best != nullptr &&
                          one.options.gamma->value == best->options.gamma->value &&
                          one.trial.error < best->trial.error;
      if (wider || better) best = &one;
    }
    EXPECT_EQ(smoothest_of_best(tries, 900).trial.error, best->trial.error) << round;
  }
}

}  // namespace
}  // namespace tamis::testing

// Time shares of auto. Limits are so large that the clock of the test itself does not show.
#include "selection/auto_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tamis::testing {
namespace {

constexpr Index kManyRows = 20'000;
constexpr double kLimit = 1e6;
constexpr double kSlack = 100;  // seconds that the test will not take

TEST(AutoBudget, StepsShareTheLimit) {
  const AutoBudget budget(kLimit, kManyRows);
  EXPECT_TRUE(budget.is_limited());
  EXPECT_EQ(budget.limit(), 0.97 * kLimit);
  EXPECT_NEAR(budget.left(), 0.97 * kLimit, kSlack);
  EXPECT_NEAR(budget.parameter_seconds(1), 0.6 * 0.35 * kLimit, kSlack);
  EXPECT_NEAR(budget.parameter_seconds(2), 0.3 * 0.35 * kLimit, kSlack);
  EXPECT_NEAR(budget.metric_seconds(2), 0.075 * 0.35 * kLimit, kSlack);
  EXPECT_NEAR(budget.trial_seconds(), 0.35 * kLimit, kSlack);
  EXPECT_EQ(budget.climb_seconds(), 0.35 * kLimit);
}

TEST(AutoBudget, WithoutALimitChoosingEndsAndTrainingIsPlannedForTenMinutes) {
  const AutoBudget budget(0, kManyRows);
  EXPECT_FALSE(budget.is_limited());
  EXPECT_TRUE(std::isinf(budget.left()));
  EXPECT_LE(budget.parameter_seconds(1), 18);
  EXPECT_LE(budget.trial_seconds(), 30);
  EXPECT_EQ(budget.climb_seconds(), 30);
  EXPECT_EQ(budget.judge_seconds(1e9), 15);
  EXPECT_EQ(budget.training_seconds(), 450);
}

TEST(AutoBudget, WithoutALimitChoosingOnFewRowsTakesTenSeconds) {
  const AutoBudget few(0, 19'999);
  EXPECT_LE(few.trial_seconds() + few.climb_seconds() + few.judge_seconds(0), 10);
  const AutoBudget limited(kLimit, 19'999);
  EXPECT_NEAR(limited.trial_seconds(), 0.35 * kLimit, kSlack);
  EXPECT_EQ(limited.judge_seconds(0.1 * kLimit), 15);
}

TEST(AutoBudget, JudgingLeavesTwoTrainings) {
  const AutoBudget budget(kLimit, kManyRows);
  EXPECT_EQ(budget.judge_seconds(0.1 * kLimit), 15);  // half of thirty seconds at most
  EXPECT_EQ(budget.judge_seconds(0.5 * kLimit), 0);   // no time for two
}

TEST(AutoBudget, TrialsGetALittleWhenNothingIsLeft) {
  const AutoBudget budget(1e-9, kManyRows);
  EXPECT_EQ(budget.trial_seconds(), AutoBudget::kLeastTrial);
  EXPECT_LT(budget.left(), 0);
}

}  // namespace
}  // namespace tamis::testing

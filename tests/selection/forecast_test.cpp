// Forecasts from trials whose law is known.
#include "selection/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tamis::testing {
namespace {

const Growth kAny{1, 2.5};

TEST(Forecast, TimeFollowsThePowerOfTheTrials) {
  const std::vector<Trial> trials{{1000, 0.1, 0.2}, {4000, 1.6, 0.2}};  // rows^2
  EXPECT_NEAR(forecast(trials, 40000, kAny).seconds, 160, 1e-6);
  EXPECT_EQ(forecast(trials, 40000, kAny).error, 0.2);
}

TEST(Forecast, TimeGrowsWithinItsLimits) {
  const std::vector<Trial> flat{{1000, 1, 0.2}, {4000, 1, 0.2}};
  EXPECT_NEAR(forecast(flat, 40000, kAny).seconds, 10, 1e-6);
  const std::vector<Trial> steep{{1000, 0.001, 0.2}, {2000, 1, 0.2}};
  EXPECT_NEAR(forecast(steep, 20000, kAny).seconds, std::pow(10, 2.5), 1e-6);
}

TEST(Forecast, ErrorsFallMoreSlowlyAndNeverRise) {
  const std::vector<Trial> falling{{1000, 0.1, 0.2}, {4000, 1, 0.1}};  // rows^-1/2
  const double error = forecast(falling, 16000, kAny).error;
  EXPECT_LT(error, 0.1);
  EXPECT_GT(error, 0.05);
  const std::vector<Trial> rising{{1000, 0.1, 0.1}, {4000, 1, 0.2}};
  EXPECT_EQ(forecast(rising, 16000, kAny).error, 0.2);
}

TEST(Forecast, AffordableRowsTakeTheTimeGiven) {
  const std::vector<Trial> trials{{1000, 0.1, 0.2}, {4000, 1.6, 0.2}};
  const Index rows = affordable_rows(trials, 40, 1'000'000, kAny);
  EXPECT_NEAR(static_cast<double>(rows), 20000, 1);
  EXPECT_EQ(affordable_rows(trials, 40, 9000, kAny), 9000);
  EXPECT_EQ(affordable_rows(trials, 0.001, 9000, kAny), 4000);  // a trial is the least
  EXPECT_EQ(affordable_rows(trials, 1e9, 1'000'000, kAny), 1'000'000);
}

TEST(Forecast, OneTrialIsEnough) {
  const std::vector<Trial> one{{1000, 1, 0.2}};
  EXPECT_GT(forecast(one, 2000, kAny).seconds, 2);
  EXPECT_EQ(forecast(one, 2000, kAny).error, 0.2);
}

}  // namespace
}  // namespace tamis::testing

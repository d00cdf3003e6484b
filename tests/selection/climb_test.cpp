// The climb over C and gamma, on errors that are known.
#include "selection/climb.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "fake_series.hpp"

namespace tamis::testing {
namespace {

constexpr Stride kStride{.tries = 16, .cost_step = 8, .gamma_step = 4, .tube_step = 4};
constexpr double kPlenty = 1e6;  // seconds

// Lowest, 0.1, at cost 64 and gamma 1/4.
double bowl(const TrainOptions& options) {
  const double c = std::log2(*options.cost) - 6;
  const double g = std::log2(options.gamma->value) + 2;
  return 0.1 + 0.005 * (c * c + g * g);
}

Candidate candidate_at(double cost, double gamma) {
  Candidate candidate{"exact", {1, 2.5}};
  candidate.options = at(cost, gamma);
  candidate.trials = {{1000, 0.001, 0.5}};
  return candidate;
}

using Factors = std::vector<std::pair<double, double>>;

Factors factors(const Freedom& freedom) {
  Factors result;
  for (const Move& move : moves(freedom, kStride)) result.emplace_back(move.cost, move.gamma);
  return result;
}

TEST(Climb, MovesOfEachFreedom) {
  EXPECT_TRUE(factors({false, false}).empty());
  EXPECT_EQ(factors({true, false}), (Factors{{1.0 / 8, 1}, {8, 1}, {1.0 / 64, 1}, {64, 1}}));
  EXPECT_EQ(factors({false, true}), (Factors{{1, 4}, {1, 1.0 / 4}, {1, 16}, {1, 1.0 / 16}}));
  const Factors both = factors({true, true});
  ASSERT_EQ(both.size(), 12U);
  EXPECT_EQ(both[0], std::pair(1.0 / 8, 4.0));  // a narrower kernel with a lower cost
  EXPECT_EQ(both[6], std::pair(1.0 / 64, 16.0));
  const std::vector<Move> tube = moves({false, false, true}, kStride);
  ASSERT_EQ(tube.size(), 4U);
  EXPECT_EQ(tube[0].tube, 1.0 / 4);
  EXPECT_EQ(tube[3].tube, 16);
  EXPECT_EQ(tube[3].cost, 1);
}

TEST(Climb, FreedomIsWhatTheUserDidNotSet) {
  const TrainOptions unset;
  TrainOptions cost_set;
  cost_set.cost = 7;
  TrainOptions gamma_set;
  gamma_set.gamma = {Gamma::Rule::value, 2};
  const TrainOptions found = at(4, 0.5);
  EXPECT_TRUE(freedom_of(unset, found).cost);
  EXPECT_TRUE(freedom_of(unset, found).gamma);
  EXPECT_FALSE(freedom_of(cost_set, found).cost);
  EXPECT_FALSE(freedom_of(gamma_set, found).gamma);
  EXPECT_FALSE(freedom_of(unset, unset).gamma);  // a rule has no number to move
  EXPECT_FALSE(freedom_of(unset, found).tube);
  TrainOptions regression;
  regression.task = Task::regression;
  EXPECT_TRUE(freedom_of(regression, found).tube);
  regression.tube = 0.5;
  EXPECT_FALSE(freedom_of(regression, found).tube);
  TrainOptions linear = found;
  linear.method = "linear";
  EXPECT_FALSE(freedom_of(unset, linear).gamma);
  EXPECT_TRUE(freedom_of(unset, linear).cost);
}

TEST(Climb, GoesDownhillAndTriesNothingTwice) {
  Candidate candidate = candidate_at(1, 16);
  std::vector<TrainOptions> tried;
  climb(fake_series(bowl, 4000, &tried), {true, true}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.cost, 64);
  EXPECT_EQ(candidate.options.gamma->value, 0.25);
  EXPECT_EQ(candidate.trials.back().error, 0.1);
  EXPECT_EQ(candidate.trials.back().rows, 4000);  // the time is enough for all
  std::set<std::pair<double, double>> places;
  for (const TrainOptions& one : tried) places.emplace(*one.cost, one.gamma->value);
  EXPECT_EQ(places.size(), tried.size());
  EXPECT_EQ(candidate.tries.size(), tried.size());
}

TEST(Climb, MovesTheTubeOfARegression) {
  // Lowest at 1/40, a quarter of the default.
  const auto error = [](const TrainOptions& options) {
    const double t = std::log2(*options.tube * 40);
    return 0.1 + 0.005 * t * t;
  };
  Candidate candidate = candidate_at(1, 1);
  candidate.options.task = Task::regression;
  candidate.options.tube = 0.1;
  climb(fake_series(error, 4000), {false, false, true}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.tube, 0.025);
}

TEST(Climb, KeepsWhatIsNotFree) {
  Candidate candidate = candidate_at(1, 16);
  climb(fake_series(bowl, 4000), {false, true}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.cost, 1);
  EXPECT_EQ(candidate.options.gamma->value, 0.25);
  candidate = candidate_at(1, 16);
  climb(fake_series(bowl, 4000), {false, false}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.gamma->value, 16);
  EXPECT_TRUE(candidate.tries.empty());
}

// Error 0.3 everywhere but far off, where a step of twice the length leads.
TEST(Climb, LongStepsCrossWhatIsFlat) {
  const auto flat = [](const TrainOptions& options) { return options.cost >= 64 ? 0.1 : 0.3; };
  Candidate candidate = candidate_at(1, 1);
  climb(fake_series(flat, 4000), {true, false}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.cost, 64);
}

TEST(Climb, ShortStridesComeSecondAndEndCloser) {
  // Lowest at cost 2^1.4. From 1, a step of 8 leads past it to where it is higher, one of 4 does
  // not.
  const auto error = [](const TrainOptions& options) {
    const double c = std::log2(*options.cost) - 1.4;
    return 0.1 + 0.05 * c * c;
  };
  Candidate candidate = candidate_at(1, 1);
  climb(fake_series(error, 4000), {true, false}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.cost, 1);
  candidate = candidate_at(1, 1);
  climb_twice(fake_series(error, 4000), {true, false}, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.options.cost, 4);
}

TEST(Climb, FewerSecondsFewerRows) {
  Candidate candidate = candidate_at(1, 16);
  candidate.trials = {{1000, 1, 0.5}, {4000, 16, 0.4}};  // rows^2
  std::vector<TrainOptions> tried;
  // 16 tries of 64 seconds each: twice the rows of the last trial.
  climb(fake_series(bowl, 100'000, &tried), {true, true}, kStride, 16 * 64, {}, &candidate);
  ASSERT_FALSE(candidate.tries.empty());
  EXPECT_NEAR(static_cast<double>(candidate.tries.front().trial.rows), 8000, 1);
}

TEST(Climb, StopsWhenCancelledOrNothingCanBeTried) {
  std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  std::vector<TrainOptions> tried;
  Candidate candidate = candidate_at(1, 16);
  climb(fake_series(bowl, 4000, &tried), {true, true}, kStride, kPlenty, control, &candidate);
  EXPECT_EQ(tried.size(), 1U);  // where it stands
  TrialSeries impossible = fake_series(bowl, 4000);
  impossible.run = [](const TrainOptions&, Index, double) { return std::nullopt; };
  candidate = candidate_at(1, 16);
  climb(impossible, {true, true}, kStride, kPlenty, {}, &candidate);
  EXPECT_EQ(candidate.trials.size(), 1U);
  EXPECT_EQ(candidate.options.cost, 1);
}

}  // namespace
}  // namespace tamis::testing

// Judging tries again, with errors that are known for every drawing of held-out rows.
#include "selection/race.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "fake_series.hpp"

namespace tamis::testing {
namespace {

constexpr Index kHeldOut = 900;  // an error of 0.1 has a standard error of 0.01

Candidate candidate_with(const std::vector<double>& errors) {
  Candidate candidate{"exact", {1, 2.5}};
  candidate.trials = {{1000, 0.001, 0.5}};
  for (const double error : errors)
    candidate.tries.push_back(
        {at(static_cast<double>(candidate.tries.size()), 1), {1000, 0, error}});
  candidate.options = candidate.tries.front().options;
  return candidate;
}

// Errors by cost, the same in every drawing but the first.
struct Drawings {
  std::vector<double> errors;
  std::vector<std::size_t> drawn = {};
  std::vector<TrainOptions> tried = {};

  DrawSeries draw() {
    return [this](std::size_t drawing) {
      drawn.push_back(drawing);
      return fake_series(
          [this](const TrainOptions& options) {
            return errors[static_cast<std::size_t>(*options.cost)];
          },
          1000, &tried);
    };
  }
};

TEST(Race, AnErrorThatWasLowByChanceLoses) {
  Candidate candidate = candidate_with({0.08, 0.1});
  Drawings drawings{{0.16, 0.1}};
  EXPECT_TRUE(race(drawings.draw(), kHeldOut, 1e6, {}, &candidate));
  EXPECT_EQ(candidate.options.cost, 1);
  EXPECT_NEAR(candidate.trials.back().error, 0.1, 1e-12);
  // Means 0.12 and 0.1 after one round: behind by more than a standard error of 1800 rows, 0.007.
  EXPECT_EQ(drawings.drawn, std::vector<std::size_t>{1});
}

TEST(Race, ErrorsAreMeansOverAllDrawings) {
  Candidate candidate = candidate_with({0.1, 0.1});
  Drawings drawings{{0.105, 0.105}};  // nobody drops out
  EXPECT_TRUE(race(drawings.draw(), kHeldOut, 1e6, {}, &candidate));
  EXPECT_EQ(drawings.drawn, (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_EQ(drawings.tried.size(), 8U);
  EXPECT_NEAR(candidate.trials.back().error, (0.1 + 4 * 0.105) / 5, 1e-12);
}

TEST(Race, TheBestEightTakePart) {
  std::vector<double> errors;
  for (int t = 0; t < 12; ++t) errors.push_back(0.2 - 0.001 * t);
  Candidate candidate = candidate_with(errors);
  Drawings drawings{errors};
  EXPECT_TRUE(race(drawings.draw(), kHeldOut, 1e6, {}, &candidate));
  for (std::size_t t = 0; t < 8; ++t)
    EXPECT_EQ(drawings.tried[t].cost, 11.0 - static_cast<double>(t));
  for (const TrainOptions& options : drawings.tried) EXPECT_GE(options.cost, 4);
}

TEST(Race, NothingChangesWithoutARound) {
  Drawings drawings{{0.1, 0.1}};
  Candidate alone = candidate_with({0.1});
  EXPECT_FALSE(race(drawings.draw(), kHeldOut, 1e6, {}, &alone));
  Candidate untried = candidate_with({0.1});
  untried.tries.clear();
  EXPECT_FALSE(race(drawings.draw(), kHeldOut, 1e6, {}, &untried));
  Candidate late = candidate_with({0.1, 0.1});
  for (Try& one : late.tries) one.trial.seconds = 10;
  EXPECT_FALSE(race(drawings.draw(), kHeldOut, 19, {}, &late));
  std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  Candidate cancelled = candidate_with({0.1, 0.1});
  EXPECT_FALSE(race(drawings.draw(), kHeldOut, 1e6, control, &cancelled));
  EXPECT_TRUE(drawings.drawn.empty());
  for (const Candidate& one : {alone, late, cancelled}) {
    EXPECT_EQ(one.options.cost, 0);
    EXPECT_EQ(one.trials.back().error, 0.5);
  }
}

}  // namespace
}  // namespace tamis::testing

// Dropping points after some folds, with losses that are known.
#include "methods/common/fold_race.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kRows = 100;  // of a fold

// Wrong on the first rows of every fold.
std::vector<double> losses_with(std::size_t wrong) {
  std::vector<double> losses(kRows, 0.0);
  for (std::size_t row = 0; row < wrong; ++row) losses[row] = 1;
  return losses;
}

FoldScores scores_with(std::size_t wrong, std::size_t done) {
  FoldScores scores;
  scores.errors.assign(kFolds, std::nan(""));
  scores.losses.resize(kFolds);
  for (std::size_t fold = 0; fold < done; ++fold) set_losses(losses_with(wrong), fold, &scores);
  return scores;
}

// Points that are wrong on so many rows of each fold, and who was scored on what.
struct FakePoints {
  std::vector<std::size_t> wrong;
  std::vector<std::set<std::size_t>> scored = {};
  std::size_t skipped = 0;

  Race race(bool racing) {
    scored.assign(wrong.size(), {});
    Race race;
    race.points = wrong.size();
    race.folds = kFolds;
    race.racing = racing;
    race.on_skipped = [this] { ++skipped; };
    race.score = [this](auto points, const FoldRange& folds, std::vector<FoldScores>* scores) {
      for (const std::size_t p : points) {
        for (std::size_t fold = folds.begin; fold < folds.end; ++fold) {
          scored[p].insert(fold);
          set_losses(losses_with(wrong[p]), fold, &(*scores)[p]);
        }
      }
    };
    return race;
  }
};

TEST(FoldRace, RoundsGrow) {
  const auto ends = [](std::size_t folds, bool racing) {
    std::vector<std::size_t> result;
    for (const FoldRange& round : fold_rounds(folds, racing)) {
      EXPECT_EQ(round.begin, result.empty() ? 0 : result.back());
      result.push_back(round.end);
    }
    return result;
  };
  using Ends = std::vector<std::size_t>;
  EXPECT_EQ(ends(5, true), (Ends{1, 3, 5}));
  EXPECT_EQ(ends(10, true), (Ends{1, 3, 7, 10}));
  EXPECT_EQ(ends(2, true), (Ends{1, 2}));
  EXPECT_EQ(ends(5, false), Ends{5});
}

TEST(FoldRace, LossesAreTheErrorOfAFold) {
  const FoldScores scores = scores_with(7, 2);
  EXPECT_DOUBLE_EQ(scores.errors[1], 0.07);
  EXPECT_TRUE(std::isnan(scores.errors[2]));
}

// k rows that only the point has wrong are sqrt(k) standard errors, times 1 / sqrt(1 - 1/5).
TEST(FoldRace, LostByTwoAndAHalfStandardErrorsOfWhatTheWholeWillBe) {
  const FoldScores best = scores_with(10, 1);
  EXPECT_FALSE(has_lost(scores_with(14, 1), best, 1));  // sqrt(4 / 0.8) = 2.2
  EXPECT_TRUE(has_lost(scores_with(16, 1), best, 1));   // sqrt(6 / 0.8) = 2.7
  // After three folds 3k rows of difference: sqrt(3 / 0.4) = 2.7.
  EXPECT_TRUE(has_lost(scores_with(11, 3), scores_with(10, 3), 3));
  EXPECT_FALSE(has_lost(scores_with(4, 1), best, 1));  // better
  EXPECT_FALSE(has_lost(best, best, 1));
}

TEST(FoldRace, RowsThatEitherHasWrongAreNoise) {
  const FoldScores best = scores_with(10, 1);
  std::vector<double> others(kRows, 0.0);
  for (std::size_t row = 0; row < 20; ++row) others[kRows - 1 - row] = 1;
  FoldScores point = scores_with(0, 1);
  set_losses(others, 0, &point);
  EXPECT_FALSE(has_lost(point, best, 1));              // 10 / sqrt(20 + 10)
  EXPECT_TRUE(has_lost(scores_with(20, 1), best, 1));  // as many wrong: 10 / sqrt(10)
}

TEST(FoldRace, LosersAreSparedTheOtherFolds) {
  FakePoints points{{10, 60, 12, 10}};
  const std::vector<FoldScores> scores = run_race(points.race(true));
  EXPECT_TRUE(scores[1].dropped);
  EXPECT_EQ(points.scored[1].size(), 1U);
  EXPECT_DOUBLE_EQ(scores[1].errors[0], 0.6);
  EXPECT_TRUE(std::isnan(scores[1].errors[1]));
  EXPECT_EQ(points.scored[2].size(), 3U);  // 6 rows of 300
  EXPECT_EQ(points.skipped, 4U + 2U);
  for (const std::size_t p : {0U, 3U}) {
    EXPECT_FALSE(scores[p].dropped);
    EXPECT_EQ(points.scored[p].size(), kFolds);
  }
}

TEST(FoldRace, SwitchedOffScoresEverything) {
  FakePoints points{{10, 60, 12}};
  for (const FoldScores& scores : run_race(points.race(false))) {
    EXPECT_FALSE(scores.dropped);
    EXPECT_FALSE(std::isnan(scores.errors[kFolds - 1]));
  }
  EXPECT_EQ(points.skipped, 0U);
}

TEST(FoldRace, AFailureEndsAPoint) {
  FakePoints points{{10, 10}};
  Race race = points.race(true);
  const auto score = race.score;
  race.score = [&](auto which, const FoldRange& folds, std::vector<FoldScores>* scores) {
    score(which, folds, scores);
    (*scores)[1].failure = std::make_exception_ptr(InvalidArgument("k is too large"));
  };
  const std::vector<FoldScores> scores = run_race(race);
  EXPECT_EQ(points.scored[1].size(), 1U);
  EXPECT_FALSE(scores[1].dropped);
  EXPECT_EQ(finished_folds(scores[1], true), 0U);
  EXPECT_EQ(finished_folds(scores[0], true), kFolds);
}

TEST(FoldRace, WhatIsStoppedKeepsTheRoundsBefore) {
  FakePoints points{{10, 60, 10}};
  Race race = points.race(true);
  const auto score = race.score;
  race.score = [&](auto which, const FoldRange& folds, std::vector<FoldScores>* scores) {
    score(which, folds, scores);
    if (folds.begin > 0) (*scores)[2].errors[2] = std::nan("");  // out of time
  };
  const std::vector<FoldScores> scores = run_race(race);
  EXPECT_EQ(points.scored[0].size(), 3U);
  EXPECT_EQ(finished_folds(scores[0], true), 3U);
  EXPECT_EQ(finished_folds(scores[1], true), 1U);
  EXPECT_EQ(finished_folds(scores[2], true), 1U);  // half a round is none
  EXPECT_EQ(finished_folds(scores[0], false), 0U);
}

}  // namespace
}  // namespace tamis::testing

// Hold-out sets and trials on real rows.
#include "selection/trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_data.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/expansion.hpp"
#include "training/run_method.hpp"

namespace tamis::testing {
namespace {

Dataset three_clouds(Index rows) { return named(clouds(rows, 3, 3, 1), {1.0, 2.0, 3.0}); }

std::vector<Index> all_of(const TrialHoldOut& held_out) {
  std::vector<Index> rows = held_out.held;
  for (const std::vector<Index>& stratum : held_out.rest)
    rows.insert(rows.end(), stratum.begin(), stratum.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(TrialHoldOut, HeldAndRestAreEveryRowOnce) {
  for (const Index rows : {6, 7, 30, 299, 2000}) {
    const Dataset data = three_clouds(rows);
    for (const bool regression : {false, true}) {
      const TrialHoldOut held_out = draw_hold_out(data, row_strata(data, regression), Random(1));
      EXPECT_EQ(all_of(held_out), iota_rows(rows)) << rows;
      EXPECT_EQ(held_out.validation.rows(), std::ssize(held_out.held));
      EXPECT_EQ(held_out.rest_rows, rows - std::ssize(held_out.held));
      EXPECT_FALSE(held_out.held.empty());
    }
  }
}

TEST(TrialHoldOut, AQuarterOfTheRowsAndFifteenThousandAtMost) {
  const Dataset data = three_clouds(2400);
  EXPECT_EQ(std::ssize(draw_hold_out(data, row_strata(data, true), Random(1)).held), 600);
  const Dataset large(random_matrix(70'000, 1, 1), Labels::numeric(std::vector<double>(70'000)));
  EXPECT_EQ(std::ssize(draw_hold_out(large, row_strata(large, true), Random(1)).held), 15'000);
}

TEST(TrialHoldOut, ValidationHasTheRowsHeld) {
  const Dataset data = three_clouds(60);
  const TrialHoldOut held_out = draw_hold_out(data, row_strata(data, false), Random(3));
  for (Index i = 0; i < held_out.validation.rows(); ++i) {
    const Index row = held_out.held[usize(i)];
    EXPECT_EQ(held_out.validation.labels().number(i), data.labels().number(row));
    EXPECT_EQ(held_out.validation.features().at(i, 2), data.features().at(row, 2));
  }
}

class TrialsTest : public ::testing::Test {
 protected:
  Dataset data_ = three_clouds(400);
  Strata strata_ = row_strata(data_, false);
  TrainOptions options_;
  RunControl control_;
  Trials trials_{data_, strata_, options_, control_};
};

TEST_F(TrialsTest, ErrorsAreThoseOfTheHeldOutRows) {
  const TrialSeries series = trials_.series(0);
  EXPECT_EQ(series.held_out_rows, trials_.validation().rows());
  EXPECT_EQ(series.most_rows + series.held_out_rows, 400);
  const auto trial = series.run(options_, series.most_rows, 100);
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->rows, series.most_rows);
  ASSERT_TRUE(trials_.best());
  EXPECT_EQ(trial->error, evaluate(trials_.best()->result.model, trials_.validation()).error_rate);
  EXPECT_EQ(trials_.best()->error, trial->error);
}

TEST_F(TrialsTest, OtherDrawingsHoldOutOtherRows) {
  const auto first = trials_.series(0).run(options_, 200, 100);
  const auto again = trials_.series(0).run(options_, 200, 100);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->error, again->error);
  bool differs = false;
  for (const std::size_t drawing : {1U, 2U, 3U, 4U})
    differs = differs || trials_.series(drawing).run(options_, 200, 100)->error != first->error;
  EXPECT_TRUE(differs);
}

TEST_F(TrialsTest, TheBestModelIsKeptWithItsRows) {
  TrainOptions poor = options_;
  poor.cost = 1e-6;
  poor.gamma = {Gamma::Rule::value, 1e4};
  const TrialSeries series = trials_.series(0);
  const auto bad = series.run(poor, 100, 100);
  const auto good = series.run(options_, 250, 100);
  ASSERT_TRUE(bad && good);
  ASSERT_LT(good->error, bad->error);
  ASSERT_TRUE(series.run(poor, 100, 100));
  const Trials::Best& best = *trials_.best();
  EXPECT_EQ(best.error, good->error);
  EXPECT_EQ(best.rows, 250);
  const ExpansionParts* parts = expansion_parts(best.result.model);
  ASSERT_NE(parts, nullptr);
  const std::vector<Index>& rows = best.result.report.support_rows;
  ASSERT_EQ(std::ssize(rows), parts->support_vectors.rows());
  for (std::size_t s = 0; s < rows.size(); ++s)
    EXPECT_EQ(data_.features().at(rows[s], 0), parts->support_vectors.at(static_cast<Index>(s), 0));
}

TEST_F(TrialsTest, WhatAMethodCannotDoIsNoTrial) {
  TrainOptions impossible = options_;
  impossible.method = "leader";
  impossible.task = Task::regression;
  EXPECT_FALSE(trials_.series(0).run(impossible, 100, 100));
  EXPECT_FALSE(trials_.best());
}

TEST(HeldOutError, IsTheMeanSquaredErrorOfARegression) {
  const Dataset data = wave(80, 2, 1);
  TrainOptions options;
  options.task = Task::regression;
  const Model model = run_method(data, options, {}).model;
  EXPECT_EQ(held_out_error(model, data, {}), evaluate(model, data).mse);
}

}  // namespace
}  // namespace tamis::testing

#include "selection/more_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_data.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/generate.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

Candidate with_gamma(double gamma) {
  Candidate one{"exact", {}};
  one.options.method = "exact";
  one.options.cost = 10;
  one.options.gamma = gamma;
  one.trials = {{700, 0.01, 0.1}};
  one.forecast = {0.01, 0.1};
  one.rows = 1000;
  return one;
}

class MoreSearch : public ::testing::Test {
 protected:
  Dataset data_ = generate("checkerboard", {.rows = 1000, .seed = 1}).data;
  Strata strata_ = row_strata(data_, false);
  TrainOptions asked_;
  RunControl control_;
  Trials trials_{data_, strata_, asked_, control_};
};

TEST_F(MoreSearch, ADuelIsWonByTheBetterParameters) {
  const Candidate good = with_gamma(1);
  const Candidate bad = with_gamma(1e-4);
  const Index held = trials_.validation().rows();
  const Duel won = duel(&trials_, bad, good, 700, 60);
  EXPECT_EQ(won.drawings, 4);
  EXPECT_LT(won.challenger_error, won.champion_error);
  EXPECT_TRUE(won.is_won(bad, good, held));
  const Duel lost = duel(&trials_, good, bad, 700, 60);
  EXPECT_EQ(lost.drawings, 1);  // behind at once: no more time for it
  EXPECT_FALSE(lost.is_won(good, bad, held));
  EXPECT_FALSE(duel(&trials_, bad, bad, 700, 60).is_won(bad, bad, held));
  const Duel none = duel(&trials_, bad, good, 700, 0);
  EXPECT_FALSE(none.is_won(bad, good, held));
}

TEST(Duel, AStandardErrorAheadIsNeeded) {
  const Candidate one = with_gamma(1);
  // 10 % of 900 rows: a standard error is 1 %.
  EXPECT_FALSE((Duel{0.1, 0.091, 1}.is_won(one, one, 900)));
  EXPECT_TRUE((Duel{0.1, 0.089, 1}.is_won(one, one, 900)));
  EXPECT_TRUE((Duel{0.1, 0.094, 4}.is_won(one, one, 900)));
  Candidate handicapped = one;
  handicapped.handicap = 1.05;
  EXPECT_FALSE((Duel{0.1, 0.089, 1}.is_won(one, handicapped, 900)));
}

TEST_F(MoreSearch, PutsWhatIsBetterInFront) {
  std::vector<Candidate> sorted = {with_gamma(2)};
  asked_.max_seconds = 20;
  const AutoBudget budget(asked_.max_seconds, data_.rows());
  const std::string words = search_on(data_, asked_, budget, control_, &trials_, &sorted);
  EXPECT_NE(words.find(" s more of search: better by "), std::string::npos) << words;
  ASSERT_GT(sorted.size(), 1U);
  EXPECT_GT(sorted[0].options.gamma->value, 2);
  EXPECT_LT(sorted[0].forecast.error, 0.1);
}

TEST_F(MoreSearch, SaysWhenNothingBetterWasFound) {
  // Classes far apart: nothing is better than no errors.
  std::vector<float> values;
  std::vector<double> labels;
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    labels.push_back(i % 2 == 0 ? 1 : -1);
    for (int j = 0; j < 2; ++j)
      values.push_back(static_cast<float>(20 * labels.back() + random.normal()));
  }
  const Matrix features = Matrix::dense(400, 2, values);
  const Dataset data(features, Labels::numeric(labels));
  TrainOptions options;
  options.method = "auto";
  options.max_seconds = 15;
  const TrainReport report = train(data, options).report;
  const auto says = [&](const std::string& line) {
    return line.starts_with("nothing better was found in ");
  };
  EXPECT_TRUE(std::any_of(report.remarks.begin(), report.remarks.end(), says))
      << ::testing::PrintToString(report.remarks);
  EXPECT_LT(report.train_seconds, 15);
  options.max_seconds = 0;
  const TrainReport unlimited = train(data, options).report;
  EXPECT_TRUE(std::none_of(unlimited.remarks.begin(), unlimited.remarks.end(), says));
}

TEST_F(MoreSearch, NoTimeOrNoLimitMeansNoSearch) {
  std::vector<Candidate> sorted = {with_gamma(1e-3)};
  EXPECT_EQ(search_on(data_, asked_, AutoBudget(0, 1000), control_, &trials_, &sorted), "");
  sorted[0].forecast.seconds = 9;  // twice that is more than there is
  EXPECT_EQ(search_on(data_, asked_, AutoBudget(10, 1000), control_, &trials_, &sorted), "");
  EXPECT_EQ(sorted.size(), 1U);
}

// What a limit leaves time for depends on the computer, so the errors of one data set do too.
TEST_F(MoreSearch, TenTimesTheTimeIsNotWorse) {
  const Dataset test = two_of_twelve(3000, 2);
  const auto mean_error = [&](double seconds) {
    TrainOptions options;
    options.method = "auto";
    options.max_seconds = seconds;
    double sum = 0;
    for (const int seed : {1, 3, 4, 5})
      sum += evaluate(train(two_of_twelve(800, seed), options).model, test).error_rate;
    return sum / 4;
  };
  EXPECT_LT(mean_error(10), mean_error(1) + 0.015);
}

}  // namespace
}  // namespace tamis::testing

// The method that chooses a method.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "support/patience.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/expansion.hpp"
#include "tamis/generate.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

double detail(const TrainReport& report, std::string_view name) {
  for (const auto& [known, value] : report.details) {
    if (known == name) return value;
  }
  ADD_FAILURE() << "no detail " << name;
  return 0;
}

TrainOptions automatic() {
  TrainOptions options;
  options.method = "auto";
  return options;
}

TEST(Auto, ChoosesParametersForABoard) {
  const Dataset data = generate("checkerboard", {.rows = 1200, .seed = 1}).data;
  const Dataset test = generate("checkerboard", {.rows = 1000, .seed = 2}).data;
  std::vector<std::string> heard;
  RunControl control;
  control.on_remark = [&](const std::string& line) { heard.push_back(line); };
  TrainOptions options = automatic();
  options.eps = 0.05;
  const TrainResult result = train(data, options, control);
  const double error = evaluate(result.model, test).error_rate;
  EXPECT_LT(error, 0.12);
  EXPECT_GT(error, 0.5 * detail(result.report, "forecast_error"));
  EXPECT_LT(error, 2 * detail(result.report, "forecast_error"));
  EXPECT_EQ(result.report.rows, 1200);
  EXPECT_EQ(result.report.method, "exact");
  ASSERT_EQ(result.report.remarks.size(), 4U);  // three before, one after
  EXPECT_EQ(heard, result.report.remarks);
  EXPECT_EQ(heard[0].find("auto: exact, "), 0U) << heard[0];
  EXPECT_EQ(heard[1].find("forecast: "), 0U) << heard[1];
  EXPECT_EQ(heard[2].find("why: "), 0U) << heard[2];
}

TEST(Auto, LearnsFeatureWeightsWhereTheyPay) {
  const Dataset data = two_of_twelve(1500, 1);
  const Dataset test = two_of_twelve(1000, 2);
  TrainOptions unhurried = automatic();
  if (kPatience > 1) unhurried.max_seconds = 100;  // its usual seconds are too few with sanitizers
  const TrainResult weighted = train(data, unhurried);
  const std::vector<float>& weights = weighted.model.scaling().weights;
  ASSERT_EQ(weights.size(), 12U);
  EXPECT_GT(weights[3], 2 * weights[0]);
  EXPECT_GT(weights[7], 2 * weights[0]);
  const std::vector<std::string>& remarks = weighted.report.remarks;
  ASSERT_FALSE(remarks.empty());
  EXPECT_NE(remarks[0].find(", feature weights, on"), std::string::npos);
  EXPECT_TRUE(std::any_of(remarks.begin(), remarks.end(), [](const std::string& remark) {
    return remark.starts_with("feature weights: round ");
  }));
  TrainOptions options = automatic();
  options.metric_rounds = 0;
  const TrainResult plain = train(data, options);
  EXPECT_TRUE(plain.model.scaling().weights.empty());
  EXPECT_LT(evaluate(weighted.model, test).error_rate,
            0.8 * evaluate(plain.model, test).error_rate);
}

TEST(Auto, LeavesAloneWhatTheUserSet) {
  const Dataset data = named(clouds(300, 4, 3, 1), {1.0, 2.0, 3.0});
  TrainOptions options = automatic();
  options.cost = 7;
  options.gamma = {Gamma::Rule::value, 0.33};
  options.scaling = ScalingMethod::standard;
  const TrainResult result = train(data, options);
  EXPECT_EQ(detail(result.report, "chosen_cost"), 7);
  EXPECT_EQ(detail(result.report, "chosen_gamma"), 0.33);
  EXPECT_EQ(result.model.scaling().method, ScalingMethod::standard);
  TrainOptions kept = automatic();
  kept.cost = 1;
  kept.scaling = ScalingMethod::none;
  const TrainResult other = train(data, kept);
  EXPECT_EQ(detail(other.report, "chosen_cost"), 1);
  EXPECT_EQ(other.model.scaling().method, ScalingMethod::none);
}

TEST(Auto, ChoosesTheSameTwice) {
  const Dataset data = generate("gaussians", {.rows = 240, .seed = 7, .features = 6}).data;
  const TrainReport first = train(data, automatic()).report;
  const TrainReport second = train(data, automatic()).report;
  for (const char* name : {"chosen_cost", "chosen_gamma", "forecast_error"})
    EXPECT_EQ(detail(first, name), detail(second, name)) << name;
}

TEST(Auto, ScalesColumnsThatNeedIt) {
  const Clouds data = clouds(600, 4, 2, 3, 2.0);
  std::vector<float> values(data.features.dense_values().begin(),
                            data.features.dense_values().end());
  Random random(1);
  for (std::size_t i = 0; i < values.size(); i += 4)
    values[i] = static_cast<float>(1e4 * random.normal());  // noise that drowns the rest
  const Dataset rows(Matrix::dense(600, 4, values), named(data, {-1.0, 1.0}).labels());
  const TrainResult result = train(rows, automatic());
  EXPECT_NE(result.model.scaling().method, ScalingMethod::none);
}

TEST(Auto, LeavesColumnsOfTheSameRangeAlone) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Dataset rows = named(clouds(400, 4, 2, seed, 1.0), {-1.0, 1.0});
    EXPECT_EQ(train(rows, automatic()).model.scaling().method, ScalingMethod::none) << seed;
  }
}

TEST(Auto, DoesRegression) {
  TrainOptions options = automatic();
  options.task = Task::regression;
  const Dataset data = generate("gaussians", {.rows = 300, .seed = 4, .regression = true}).data;
  const TrainResult result = train(data, options);
  EXPECT_GT(evaluate(result.model, data).r2, 0.3);
}

// With numbers that differ by less than the default tube, a constant would be a perfect answer.
TEST(Auto, TheUnitOfARegressionDoesNotMatter) {
  const Dataset wave = testing::wave(400, 2, 7);
  std::vector<double> small;
  for (Index i = 0; i < wave.rows(); ++i) small.push_back(0.01 * wave.labels().number(i));
  TrainOptions options = automatic();
  options.task = Task::regression;
  options.max_seconds = 3;
  const Dataset data(wave.features(), Labels::numeric(small));
  const TrainResult result = train(data, options);
  EXPECT_GT(evaluate(result.model, data).r2, 0.8);
  EXPECT_LT(detail(result.report, "chosen_tube"), 0.01);
  options.tube = 0.2;
  EXPECT_EQ(detail(train(data, options).report, "chosen_tube"), 0.2);
  options.tube = TrainOptions().tube_or_default();  // the default, but asked for
  EXPECT_EQ(detail(train(data, options).report, "chosen_tube"), options.tube);
}

TEST(Auto, TinyDataTrains) {
  const Dataset data = named(clouds(6, 2, 2, 1), {-1.0, 1.0});
  EXPECT_FALSE(train(data, automatic()).model.empty());
}

TEST(Auto, NoTimeAtAllStillLeavesAModel) {
  const Dataset data = generate("checkerboard", {.rows = 3000, .seed = 1}).data;
  TrainOptions options = automatic();
  options.max_seconds = 1e-3;
  const TrainResult result = train(data, options);
  EXPECT_FALSE(result.model.empty());
}

// Whichever part of the rows the time allows.
TEST(Auto, SupportRowsAreRowsOfTheDataThatCount) {
  const Dataset board = generate("checkerboard", {.rows = 20000, .seed = 1}).data;
  std::vector<double> weights(20000, 1.0);
  for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = 0;
  const Dataset data(board.features(), board.labels(), weights);
  TrainOptions options = automatic();
  options.scaling = ScalingMethod::none;
  for (const double seconds : {0.2, 1.0}) {
    options.max_seconds = seconds;
    const TrainResult result = train(data, options);
    const ExpansionParts* parts = expansion_parts(result.model);
    if (parts == nullptr) continue;
    const std::vector<Index>& rows = result.report.support_rows;
    ASSERT_EQ(static_cast<Index>(rows.size()), parts->support_vectors.rows());
    for (std::size_t s = 0; s < rows.size(); ++s) {
      EXPECT_GT(data.weight(rows[s]), 0);
      for (Index j = 0; j < 2; ++j)
        EXPECT_EQ(data.features().at(rows[s], j),
                  parts->support_vectors.at(static_cast<Index>(s), j));
    }
  }
}

TEST(Auto, UnusableDataIsAnError) {
  EXPECT_THROW(train(Dataset(random_matrix(9, 2, 1)), automatic()), DataError);
  EXPECT_THROW(train(Dataset(random_matrix(9, 2, 1), Labels::numeric(std::vector<double>(9, 1.0))),
                     automatic()),
               DataError);
}

TEST(Deadline, SetsItsFlagWhenTimeIsUp) {
  const RunControl outer;
  const Deadline deadline(outer, 0.01);
  const Stopwatch watch;
  while (!deadline.control().cancelled() && watch.seconds() < 20) {
  }
  EXPECT_TRUE(deadline.passed());
}

TEST(Deadline, PassesTheOuterCancelOn) {
  std::atomic<bool> cancel = true;
  RunControl outer;
  outer.cancel = &cancel;
  const Deadline deadline(outer, 1e6);
  const Stopwatch watch;
  while (!deadline.control().cancelled() && watch.seconds() < 20) {
  }
  EXPECT_TRUE(deadline.control().cancelled());
  EXPECT_FALSE(deadline.passed());
}

}  // namespace
}  // namespace tamis::testing

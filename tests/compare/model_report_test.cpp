#include "tamis/model_report.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tamis/error.hpp"
#include "tamis/generate.hpp"
#include "tamis/report_page.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

Dataset checkerboard(Index rows, std::uint64_t seed = 1) {
  GenerateOptions options;
  options.rows = rows;
  options.seed = seed;
  return generate("checkerboard", options).data;
}

struct Checkerboard {
  Dataset train = checkerboard(800);
  Dataset test = checkerboard(400, 2);
  TrainOptions options;

  Checkerboard() {
    options.cost = 10;
    options.gamma = 100.0;
  }
};

TEST(ModelReport, LearningCurveHalvesTheRows) {
  const Checkerboard board;
  const Model whole = tamis::train(board.train, board.options).model;
  const auto points = learning_curve(board.train, board.test, board.options, whole);
  ASSERT_EQ(points.size(), 5U);
  for (std::size_t p = 0; p < points.size(); ++p)
    EXPECT_EQ(points[p].rows, 50 << p) << points[p].failure;
  EXPECT_EQ(points.back().error, evaluate(whole, board.test).error_rate);
  EXPECT_EQ(points.back().training_error, evaluate(whole, board.train).error_rate);
  EXPECT_LT(points.back().error, points.front().error);
}

TEST(ModelReport, LearningCurveStopsAtTwentyRows) {
  const Checkerboard board;
  const Dataset few = checkerboard(90);
  const Model whole = tamis::train(few, board.options).model;
  const auto points = learning_curve(few, board.test, board.options, whole);
  ASSERT_EQ(points.size(), 3U);  // 90, 45, 22 or 23
  EXPECT_EQ(points[1].rows, 45);
}

TEST(ModelReport, PartsTooSmallForTheMethodSaySo) {
  Checkerboard board;
  board.options.method = "local-sampling";
  board.options.sift.delta = 0.4;
  board.options.local_sampling.subsamples = 100;  // each needs a row of every class
  const Model whole = tamis::train(board.train, board.options).model;
  const auto points = learning_curve(board.train, board.test, board.options, whole);
  EXPECT_TRUE(points.back().failure.empty());
  const LearningPoint& half = points[points.size() - 2];
  EXPECT_NE(half.failure.find("subsamples is 100"), std::string::npos);
  ModelReport report;
  report.learning = points;
  EXPECT_NE(report_page("x", report).find(half.failure), std::string::npos);
}

TEST(ModelReport, Cancelled) {
  const Checkerboard board;
  const Model whole = tamis::train(board.train, board.options).model;
  const std::atomic<bool> stop = true;
  RunControl control;
  control.cancel = &stop;
  EXPECT_THROW(learning_curve(board.train, board.test, board.options, whole, control), Cancelled);
  EXPECT_THROW(measure_model(whole, board.test, nullptr, control), Cancelled);
}

TEST(ModelReport, MeasuresWhatEvaluateDoes) {
  const Checkerboard board;
  const Model model = tamis::train(board.train, board.options).model;
  const ModelReport report = measure_model(model, board.test, &board.train);
  EXPECT_EQ(report.evaluation.errors, evaluate(model, board.test).errors);
  EXPECT_EQ(*report.training_error, evaluate(model, board.train).error_rate);
  ASSERT_EQ(report.curves.size(), 1U);
  EXPECT_GT(report.curves[0].roc_area, 0.9);
  EXPECT_FALSE(measure_model(model, board.test).training_error);
  EXPECT_THROW(measure_model(model, Dataset(board.test.features())), DataError);
}

TEST(ModelReport, ManyClassesAreListedByTheirConfusions) {
  std::vector<float> values;
  std::vector<double> labels;
  for (int c = 0; c < 40; ++c) {
    for (int i = 0; i < 4; ++i) {
      values.push_back(static_cast<float>(c));
      labels.push_back(i == 0 ? (c + 1) % 40 : c);
    }
  }
  const Dataset data(Matrix::dense(160, 1, values), Labels::numeric(labels));
  TrainOptions options;
  options.gamma = 10.0;
  options.cost = 100;
  const ModelReport report = measure_model(tamis::train(data, options).model, data);
  EXPECT_EQ(report.curves.size(), 30U);
  const std::string page = report_page("many", report);
  EXPECT_NE(page.find("\"confusions\":[["), std::string::npos);
  EXPECT_EQ(page.find("\"matrix\":"), std::string::npos);
}

}  // namespace
}  // namespace tamis::testing

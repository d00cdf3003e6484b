// Comparisons: what a row holds, methods that fail, and stopping half way.
#include "tamis/compare.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

ComparedMethod method(const std::string& name) {
  ComparedMethod result{name, {}};
  result.options.method = name;
  result.options.cost = 10;
  result.options.gamma = {Gamma::Rule::value, 100};
  result.options.local.k = name == "knn" ? 9 : 100;
  return result;
}

Dataset board(Index rows, std::uint64_t seed) {
  return generate("checkerboard", {.rows = rows, .seed = seed}).data;
}

TEST(Compare, ShowsTheLargestFeatureWeights) {
  const Dataset rows = two_of_twelve(500, 1);
  std::vector<std::string> names;
  for (int j = 0; j < 12; ++j) names.push_back("c" + std::to_string(j));
  const Dataset named_rows(rows.features(), rows.labels(), {}, names);
  CompareOptions plan;
  TrainOptions options;
  options.method = "exact";
  plan.methods.push_back({"plain", options});
  options.cost = 4;
  options.metric_rounds = 2;
  plan.methods.push_back({"weighted", options});
  const Comparison named_columns = compare(named_rows, named_rows, plan);
  EXPECT_TRUE(named_columns.rows[0].feature_weights.empty());
  const auto& weights = named_columns.rows[1].feature_weights;
  ASSERT_EQ(weights.size(), 12U);
  EXPECT_EQ((std::set<std::string>{weights[0].first, weights[1].first}),
            (std::set<std::string>{"c3", "c7"}));
  EXPECT_TRUE(std::is_sorted(weights.begin(), weights.end(),
                             [](const auto& a, const auto& b) { return a.second > b.second; }));
  EXPECT_EQ(compare(rows, rows, plan).rows[1].feature_weights[0].first,
            weights[0].first == "c3" ? "column 4" : "column 8");
}

TEST(Compare, RowsHoldWhatTrainingAndTestingGive) {
  const Dataset train_rows = board(600, 1);
  const Dataset test_rows = board(300, 2);
  CompareOptions options;
  options.methods = {method("falk"), method("exact"), method("linear")};
  options.methods[2].options.kernel = KernelType::rbf;
  options.regions = true;
  std::vector<std::string> finished;
  const Comparison result =
      compare(train_rows, test_rows, options, {},
              [&](const ComparisonRow& row) { finished.push_back(row.name); });
  ASSERT_EQ(result.rows.size(), 3U);
  EXPECT_EQ(finished, (std::vector<std::string>{"exact", "falk", "linear"}));
  const ComparisonRow& exact = result.rows[1];
  const TrainResult alone = train(train_rows, options.methods[1].options);
  EXPECT_EQ(exact.error.mean, evaluate(alone.model, test_rows).error_rate);
  EXPECT_EQ(exact.support_vectors.mean, static_cast<double>(alone.report.support_vectors));
  EXPECT_EQ(exact.model_bytes.mean, static_cast<double>(model_file_bytes(alone.model)));
  EXPECT_EQ(exact.full_support_vectors.mean, 1);
  EXPECT_EQ(exact.rows_used.mean, 600);
  EXPECT_EQ(result.full(), &exact);
  // Local machines find most of the full machine's support vectors.
  EXPECT_GT(result.rows[0].full_support_vectors.mean, 0.5);
  EXPECT_LE(result.rows[0].full_support_vectors.mean, 1);
  EXPECT_TRUE(std::isnan(result.rows[2].full_support_vectors.mean));
  EXPECT_EQ(exact.regions.classes.size(), usize(exact.regions.width * exact.regions.height));
  EXPECT_EQ(exact.regions.support_vectors.size(), usize(alone.report.support_vectors));
}

TEST(Compare, RunsGiveMeansAndDeviations) {
  CompareOptions options;
  options.methods = {method("exact"), method("knn")};
  options.runs = 3;
  const Comparison result = compare_split(board(400, 3), 0.25, options);
  EXPECT_EQ(result.train_rows, 300);
  EXPECT_EQ(result.test_rows, 100);
  for (const ComparisonRow& row : result.rows) {
    ASSERT_EQ(row.errors.size(), 3U);
    const double mean = (row.errors[0] + row.errors[1] + row.errors[2]) / 3;
    double squares = 0;
    for (const double e : row.errors) squares += (e - mean) * (e - mean);
    EXPECT_NEAR(row.error.mean, mean, 1e-12);
    EXPECT_NEAR(row.error.deviation, std::sqrt(squares / 2), 1e-12);
    EXPECT_GT(row.error.deviation, 0);  // every run has other test rows
  }
}

TEST(Compare, FailuresKeepTheirRowAndReason) {
  CompareOptions options;
  options.methods = {method("exact"), method("exact"), method("falk"), method("linear")};
  options.methods[1].name = "exact/limited";
  options.methods[1].options.max_iterations = 3;
  options.methods[2].options.local.k_prime = 1000;  // above k
  options.methods[3].options.cost = -1;
  const Comparison result = compare(board(300, 1), board(100, 2), options);
  EXPECT_TRUE(result.rows[0].failure.empty());
  EXPECT_EQ(result.rows[1].runs, 1);
  EXPECT_NE(result.rows[1].note.find("iteration limit"), std::string::npos);
  EXPECT_NE(result.rows[2].failure.find("k-prime"), std::string::npos);
  EXPECT_NE(result.rows[3].failure.find("cost"), std::string::npos);
  EXPECT_TRUE(std::isnan(result.rows[3].error.mean));
}

TEST(Compare, MethodsThatDoNotApplySaySo) {
  CompareOptions options;
  options.methods = {method("exact"), method("falk-l")};
  for (ComparedMethod& one : options.methods) one.options.task = Task::regression;
  const Dataset rows = generate("gaussians", {.rows = 100, .seed = 4, .regression = true}).data;
  const Comparison result = compare_split(rows, 0.3, options);
  EXPECT_GT(result.rows[0].error.mean, 0);
  EXPECT_NE(result.rows[1].failure.find("regression"), std::string::npos);
  options.methods[1].options.task = Task::classification;
  EXPECT_THROW(compare_split(rows, 0.3, options), InvalidArgument);
}

TEST(Compare, CancellingKeepsFinishedRows) {
  std::atomic<bool> cancel = false;
  RunControl control;
  control.cancel = &cancel;
  CompareOptions options;
  options.methods = {method("exact"), method("falk"), method("knn")};
  const Comparison result = compare(board(300, 1), board(100, 2), options, control,
                                    [&](const ComparisonRow&) { cancel = true; });
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows[0].runs, 1);
  EXPECT_EQ(result.rows[1].failure, "interrupted");
  EXPECT_EQ(result.rows[2].failure, "interrupted");
}

TEST(Compare, NeedsMethodsAndLabels) {
  EXPECT_THROW(compare(board(50, 1), board(50, 2), {}), InvalidArgument);
  CompareOptions options;
  options.methods = {method("exact")};
  EXPECT_THROW(compare(board(50, 1), Dataset(board(50, 2).features()), options), DataError);
}

}  // namespace
}  // namespace tamis::testing

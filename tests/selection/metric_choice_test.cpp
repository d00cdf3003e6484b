#include "selection/metric_choice.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

TEST(MetricChoice, AnErrorCountsOnlyWhereWeightsWereAskedFor) {
  const Dataset narrow = two_of_twelve(200, 1);
  const Dataset wide = narrow.with_features(narrow.features().to_sparse().with_cols(3'000'000));
  RunControl control;
  control.memory_bytes = 1;  // leaves the least there is, 1 MiB
  TrainOptions asked;
  const MetricChoice none = choose_metric(wide, asked, asked, 10, control);
  EXPECT_TRUE(none.options.feature_weights.empty());
  EXPECT_TRUE(none.remark.empty());
  asked.metric_rounds = 2;
  EXPECT_THROW(choose_metric(wide, asked, asked, 10, control), ResourceError);
  control.memory_bytes = 0;
  EXPECT_FALSE(choose_metric(narrow, asked, asked, 10, control).remark.empty());
}

TEST(MetricChoice, AFullMetricThatWasAskedForIsLearnedOrRefused) {
  const Dataset rows = two_of_twelve(600, 2);
  TrainOptions asked;
  asked.method = "auto";
  asked.metric = MetricForm::full;
  const MetricChoice choice = choose_metric(rows, asked, TrainOptions(), 10, {});
  EXPECT_TRUE(choice.options.feature_weights.empty());
  EXPECT_EQ(choice.options.metric_matrix.size(), 144U);
  EXPECT_TRUE(choice.remark.starts_with("full metric: round ")) << choice.remark;
  const Dataset wide = rows.with_features(rows.features().to_sparse().with_cols(301));
  EXPECT_THROW(choose_metric(wide, asked, TrainOptions(), 10, {}), InvalidArgument);
}

}  // namespace
}  // namespace tamis::testing

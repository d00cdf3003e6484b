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

}  // namespace
}  // namespace tamis::testing

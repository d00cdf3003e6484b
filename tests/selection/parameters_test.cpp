// What a user set, and scalings that are worth a trial.
#include "selection/parameters.hpp"

#include <gtest/gtest.h>

#include "fake_series.hpp"
#include "selection/scaling_choices.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

TEST(Parameters, KeptAreThoseTheUserSet) {
  const TrainOptions unset;
  EXPECT_FALSE(keeps_cost(unset) || keeps_gamma(unset) || keeps_scaling(unset) ||
               keeps_tube(unset));
  TrainOptions set = at(2, 3);
  set.scaling = ScalingMethod::minmax;
  set.tube = 0.3;
  EXPECT_TRUE(keeps_cost(set) && keeps_gamma(set) && keeps_scaling(set) && keeps_tube(set));
  TrainOptions linear;
  linear.kernel = KernelType::linear;
  EXPECT_TRUE(keeps_gamma(linear));  // it has none
  EXPECT_FALSE(keeps_scaling(linear));
  TrainOptions precomputed;
  precomputed.kernel = KernelType::precomputed;
  EXPECT_TRUE(keeps_gamma(precomputed) && keeps_scaling(precomputed));
}

TEST(Parameters, TheLargestOfSeveral) {
  TrainOptions largest;  // cost 1, gamma a rule
  raise_to(at(0.5, 0.1), &largest);
  EXPECT_EQ(cost_of(largest), 1);
  EXPECT_EQ(gamma_of(largest), 0.1);
  raise_to(at(8, 0.01), &largest);
  EXPECT_EQ(cost_of(largest), 8);
  EXPECT_EQ(gamma_of(largest), 0.1);
  raise_to(TrainOptions(), &largest);
  EXPECT_TRUE(gamma_is_number(largest));
  EXPECT_EQ(gamma_or(largest, 7), 0.1);
  EXPECT_EQ(gamma_or(TrainOptions(), 7), 7);
}

TEST(Parameters, MovesMultiply) {
  EXPECT_TRUE(at_same_place(moved(at(2, 3), {4, 0.5}), at(8, 1.5)));
  EXPECT_FALSE(at_same_place(at(2, 3), at(2, 4)));
  EXPECT_FALSE(at_same_place(at(2, 3), moved(at(2, 3), {1, 1, 0.5})));
  EXPECT_FALSE(at_same_place(at(1, 3), at(2, 3)));
}

Dataset columns(std::vector<float> values, Index rows) {
  const Index cols = static_cast<Index>(values.size()) / rows;
  return Dataset(Matrix::dense(rows, cols, std::move(values)));
}

TEST(ScalingChoices, ColumnsOfTheSameRangeStayAsTheyAre) {
  using Choices = std::vector<ScalingMethod>;
  const Choices as_they_are{ScalingMethod::none};
  const Choices all{ScalingMethod::none, ScalingMethod::minmax, ScalingMethod::standard,
                    ScalingMethod::quantile};
  EXPECT_EQ(scaling_choices(columns({0, 0, 1, 9}, 2), {}), as_they_are);
  EXPECT_EQ(scaling_choices(columns({0, 0, 1, 11}, 2), {}), all);
  EXPECT_EQ(scaling_choices(columns({0, 500, 1, 500}, 2), {}), as_they_are);  // one is constant
  TrainOptions asked;
  asked.scaling = ScalingMethod::maxabs;
  EXPECT_EQ(scaling_choices(columns({0, 0, 1, 11}, 2), asked), Choices{ScalingMethod::maxabs});
}

TEST(ScalingChoices, SkewedColumnsOfTheSameRangeMayGetNormalScores) {
  std::vector<float> skewed;
  std::vector<float> even;
  for (int i = 0; i < 200; ++i) {
    skewed.push_back(std::exp(0.03F * static_cast<float>(i)));
    even.push_back(static_cast<float>(i));
  }
  const std::vector<ScalingMethod> expected{ScalingMethod::none, ScalingMethod::quantile};
  EXPECT_EQ(scaling_choices(columns(skewed, 200), {}),
            std::vector<ScalingMethod>{ScalingMethod::none});  // skewness 1.5
  for (float& value : skewed) value *= value;
  EXPECT_EQ(scaling_choices(columns(skewed, 200), {}), expected);
  EXPECT_EQ(scaling_choices(columns(even, 200), {}),
            std::vector<ScalingMethod>{ScalingMethod::none});
}

TEST(ScalingChoices, SparseRowsOfManyColumnsStaySparse) {
  const Dataset data(Matrix::sparse(201, {0, 1, 2}, {0, 200}, {1.0F, 1000.0F}));
  const std::vector<ScalingMethod> expected{ScalingMethod::none, ScalingMethod::maxabs};
  EXPECT_EQ(scaling_choices(data, {}), expected);
}

}  // namespace
}  // namespace tamis::testing

#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

Dataset weighted(double weight) {
  const Clouds data = clouds(8, 1, 2, 3);
  return named(data, {-1, 1}, {weight, 1, 1, weight, 2, 1, weight, weight});
}

// 1 / (2 C) of squared slacks was infinite in float, squares of the coefficients overflowed.
TEST(Prepare, ExtremeWeightsGiveNumbers) {
  for (const double weight : {1e-300, 1e-40, 1e300, 1e308}) {
    for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
      TrainOptions options;
      options.loss = loss;
      options.max_iterations = 10'000;
      options.kernel = KernelType::linear;
      const auto [model, report] = train(weighted(weight), options);
      EXPECT_TRUE(std::isfinite(report.objective))
          << weight << (loss == SlackLoss::l1 ? " l1" : " l2");
      const DecisionValues values = decision_values(model, weighted(weight).features());
      for (const double value : values.values)
        EXPECT_TRUE(std::isfinite(value)) << weight << (loss == SlackLoss::l1 ? " l1" : " l2");
    }
  }
}

}  // namespace
}  // namespace tamis::testing

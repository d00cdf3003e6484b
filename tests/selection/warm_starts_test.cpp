#include "selection/warm_starts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "support/random_data.hpp"
#include "tamis/generate.hpp"
#include "tamis/predict.hpp"
#include "training/run_method.hpp"

namespace tamis::testing {
namespace {

TrainOptions at(double cost, double gamma) {
  TrainOptions options;
  options.method = "exact";
  options.cost = cost;
  options.gamma = gamma;
  options.eps = 1e-5;
  return options;
}

std::vector<Index> rows_from(Index begin, Index count) {
  std::vector<Index> rows(usize(count));
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

// Trains on the rows, from a start if there is one, and keeps the result.
TrainResult run(const Dataset& data, const TrainOptions& options, const std::vector<Index>& rows,
                WarmStarts* starts, bool* started = nullptr) {
  const std::optional<KernelMachine> start = starts->find(options, rows);
  if (started != nullptr) *started = start.has_value();
  TrainResult result = run_method(data.select(rows), options, {}, start ? &*start : nullptr);
  starts->keep(options, result, rows);
  return result;
}

TEST(WarmStarts, GiveTheModelOfAColdStartInFewerSteps) {
  for (const bool is_board : {true, false}) {
    const Dataset data = is_board ? generate("checkerboard", {.rows = 900, .seed = 1}).data
                                  : named(clouds(900, 4, 4, 2), {1.0, 2.0, 3.0, 4.0});
    WarmStarts starts;
    std::int64_t warm_steps = 0;
    std::int64_t cold_steps = 0;
    for (const auto& [cost, gamma, first] : {std::tuple<double, double, Index>{1, 1, 0},
                                             {8, 1, 0},
                                             {8, 1, 100},
                                             {1, 4, 0},
                                             {0.5, 4, 50}}) {
      const std::vector<Index> rows = rows_from(first, 700);
      bool is_warm = false;
      const TrainResult warm = run(data, at(cost, gamma), rows, &starts, &is_warm);
      EXPECT_EQ(is_warm, cost != 1 || gamma != 1 || first != 0);
      const TrainResult cold = run_method(data.select(rows), at(cost, gamma), {});
      EXPECT_NEAR(warm.report.objective, cold.report.objective,
                  1e-6 * std::abs(cold.report.objective));
      const auto a = decision_values(warm.model, data.features()).values;
      const auto b = decision_values(cold.model, data.features()).values;
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-3) << cost << gamma;
      warm_steps += warm.report.iterations;
      cold_steps += cold.report.iterations;
    }
    EXPECT_LT(warm_steps, cold_steps);
  }
}

TEST(WarmStarts, NeverOfTheSameTrialOrOtherRows) {
  const Dataset data = generate("checkerboard", {.rows = 400, .seed = 1}).data;
  WarmStarts starts;
  run(data, at(1, 1), rows_from(0, 300), &starts);
  EXPECT_FALSE(starts.find(at(1, 1), rows_from(0, 300)));  // it would be over at once
  EXPECT_TRUE(starts.find(at(1, 1), rows_from(50, 300)));
  EXPECT_TRUE(starts.find(at(2, 1), rows_from(0, 300)));
  EXPECT_FALSE(starts.find(at(2, 1), rows_from(0, 400)));
  TrainOptions other = at(2, 1);
  other.scaling = ScalingMethod::minmax;
  EXPECT_FALSE(starts.find(other, rows_from(0, 300)));
  other = at(2, 1);
  other.kernel = KernelType::laplacian;
  EXPECT_FALSE(starts.find(other, rows_from(0, 300)));
  other = at(2, 1);
  other.feature_weights = {1, 2};
  EXPECT_FALSE(starts.find(other, rows_from(0, 300)));
}

TEST(WarmStarts, TakeTheNearestParameters) {
  const Dataset data = generate("checkerboard", {.rows = 300, .seed = 1}).data;
  const std::vector<Index> rows = rows_from(0, 300);
  WarmStarts starts;
  run(data, at(1, 1), rows, &starts);
  run(data, at(1, 16), rows, &starts);
  const auto largest = [&](double cost, double gamma) {
    const auto start = starts.find(at(cost, gamma), rows);
    double found = 0;
    for (const double c : start->machines[0].coefficients) found = std::max(found, std::abs(c));
    return found;
  };
  // Most coefficients are at the bound with the wide kernel: they go with C.
  EXPECT_NEAR(largest(4, 1.1), 4, 1e-6);
  EXPECT_EQ(starts.find(at(4, 15), rows)->machines[0].rows.size(),
            run_method(data, at(1, 16), {}).report.support_rows.size());
}

// A start with rows of weight 0, or for another number of classes, does no harm.
TEST(WarmStarts, RowsThatDoNotCountAreLeftOut) {
  const Dataset all = generate("checkerboard", {.rows = 300, .seed = 1}).data;
  const std::vector<Index> rows = rows_from(0, 300);
  std::vector<double> weights(300, 1.0);
  for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = 0;
  const Dataset data(all.features(), all.labels(), weights);
  WarmStarts starts;
  run(data, at(1, 1), rows, &starts);
  bool started = false;
  const TrainResult warm = run(data, at(2, 1), rows, &starts, &started);
  EXPECT_TRUE(started);
  const auto a = decision_values(warm.model, all.features()).values;
  const auto b = decision_values(run_method(data, at(2, 1), {}).model, all.features()).values;
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-3);
  const Dataset three = named(clouds(300, 2, 3, 1), {1.0, 2.0, 3.0});
  const std::optional<KernelMachine> start = starts.find(at(4, 1), rows);
  const TrainResult other = run_method(three, at(4, 1), {}, &*start);
  EXPECT_EQ(other.report.iterations, run_method(three, at(4, 1), {}).report.iterations);
}

}  // namespace
}  // namespace tamis::testing

// Random sampling as the paper has it: when its bound on the rounds holds, what delta does, the
// example of Figures 4 and 5, and the penalties of outliers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "methods/opt_margin_problems.hpp"
#include "methods/sampling/reweighting.hpp"
#include "support/naive_qp.hpp"
#include "tamis/certify.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

/// A column of the table `rounds`.
std::vector<double> of_rounds(const TrainReport& report, const std::string& name) {
  std::vector<double> result;
  for (const ReportTable& table : report.tables) {
    if (table.name != "rounds") continue;
    const auto column = std::find(table.columns.begin(), table.columns.end(), name);
    for (const auto& row : table.rows)
      result.push_back(row.at(usize(column - table.columns.begin())));
  }
  return result;
}

// 6 delta ln n is promised for delta the combinatorial dimension and draws of 6 delta^2.
TEST(OptMargin, TheBoundIsReportedWhereTheTheoremHolds) {
  const Dataset data = halves(2000, 2, 1, 0.05);
  const auto bound = [&](const std::string& method, KernelType kernel, Index draw, double k = 0) {
    TrainOptions options = settings(method, kernel);
    options.opt_margin.draw = draw;
    options.opt_margin.carry_support = false;
    if (k > 0) options.opt_margin.margin_k = k;
    return detail_if_any(train(data, options).report, "round_bound");
  };
  const auto promised = [](double delta) { return 6 * delta * std::log(2000.0); };
  EXPECT_EQ(bound("opt-margin", KernelType::linear, 6 * 9), promised(3));
  EXPECT_EQ(bound("opt-margin", KernelType::linear, 500), promised(3)) << "larger draws";
  EXPECT_EQ(bound("opt-margin", KernelType::linear, 6 * 9 - 1), std::nullopt) << "smaller draws";
  // 1, x, y, xx, xy, yy
  EXPECT_EQ(bound("opt-margin", KernelType::polynomial, 6 * 49), promised(7));
  EXPECT_EQ(bound("opt-margin", KernelType::rbf, 500), std::nullopt) << "infinitely many";
  EXPECT_EQ(bound("opt-soft-margin", KernelType::linear, 500), std::nullopt) << "D of each draw";
  EXPECT_EQ(bound("opt-soft-margin", KernelType::linear, 6 * 36, 2), promised(6)) << "k (n + 1)";
  EXPECT_EQ(bound("opt-soft-margin", KernelType::linear, 6 * 36 - 1, 2), std::nullopt);
}

// Carried support vectors do not break the theorem's proof, but a first tolerance that is not the
// last does.
TEST(OptMargin, TheBoundWantsOneToleranceInAllRounds) {
  const Dataset data = halves(2000, 2, 1, 0.05);
  for (const double eps : {1e-2, 1e-3}) {
    TrainOptions options = settings("opt-margin", KernelType::linear, eps);
    options.opt_margin.draw = 6 * 9;
    EXPECT_EQ(detail_if_any(train(data, options).report, "round_bound").has_value(), eps == 1e-2);
  }
}

// Weights that another k left behind are not those of the theorem, which begins with 1.
TEST(OptMargin, TheBoundIsNotReportedForASearchOfK) {
  const Dataset data = halves(300, 2, 1, 0.1, 0.03);
  TrainOptions options = settings("opt-soft-margin", KernelType::linear);
  options.opt_margin.margin_k = MarginK::Rule::smallest;
  options.opt_margin.draw = 6 * 9;  // enough for k = 1, where it begins
  EXPECT_EQ(detail_if_any(train(data, options).report, "round_bound"), std::nullopt);
}

// Draws double when rounds stall; what delta does then is the user's choice.
TEST(OptSoftMargin, DeltaOfStalledRounds) {
  const Dataset data = halves(20000, 10, 1, 0, 0.05);
  TrainOptions options = settings("opt-soft-margin", KernelType::linear, 1e-3);
  options.opt_margin.draw = 600;  // delta 10
  for (const bool doubles : {false, true}) {
    SCOPED_TRACE(doubles);
    options.opt_margin.stalled_delta = doubles ? StalledDelta::doubling : StalledDelta::halve;
    const auto [model, report] = train(data, options);
    EXPECT_TRUE(certify(model, data, options).certified);
    const std::vector<double> delta = of_rounds(report, "delta");
    ASSERT_GT(delta.size(), 2U);
    EXPECT_EQ(delta.front(), 10);
    const auto [least, most] = std::minmax_element(delta.begin(), delta.end());
    EXPECT_EQ(*least, doubles ? 10 : *least);
    EXPECT_EQ(*most, doubles ? *most : 10);
    EXPECT_LT(*least, *most) << "no round stalled";
  }
}

// D_i coordinated with u: the answer is the optimum with the weights that the report names.
TEST(OptSoftMargin, DiscountedOutliersAreRowWeights) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Dataset data = halves(400, 2, seed, 0.1, 0.05);
    TrainOptions options = settings("opt-soft-margin", kKernels[seed % 3]);
    options.opt_margin.discount_outliers = true;
    if (seed % 2 == 0) options.opt_margin.margin_k = 80;
    const auto [model, report] = train(data, options);
    std::vector<double> weights(400, 1.0);
    for (const ReportTable& table : report.tables) {
      if (table.name != "discounts") continue;
      for (const auto& row : table.rows) weights.at(usize(static_cast<Index>(row[1]) - 1)) = row[2];
    }
    EXPECT_GT(std::count_if(weights.begin(), weights.end(), [](double w) { return w < 1; }), 0);
    TrainOptions claim = settings("exact", options.kernel_or_default());
    claim.cost = detail(report, "equivalent_cost");
    EXPECT_TRUE(certify(model, Dataset(data.features(), data.labels(), weights), claim).certified);
    EXPECT_FALSE(certify(model, data, claim).certified);
  }
}

TEST(OptSoftMargin, OutliersAreDiscountedForAGivenProblem) {
  TrainOptions options = settings("opt-soft-margin", KernelType::linear);
  options.opt_margin.discount_outliers = true;
  options.opt_margin.margin_k = MarginK::Rule::smallest;
  EXPECT_THROW(train(halves(100, 2, 1, 0, 0.1), options), InvalidArgument);
  options.opt_margin.margin_k = {};
  options.task = Task::regression;
  EXPECT_THROW(train(wave(30, 1, 1), options), InvalidArgument);
}

// Figures 4 and 5 of the paper: three dimensions, k = 3, two positive rows at each of a, b, c and
// one at d, nearer to the negative ones. n + 1 + k = 7 rows do not determine the answer: eight do.
TEST(OptSoftMargin, MoreRowsThanDimensionsAndKDetermineAnAnswer) {
  using Point = std::array<float, 3>;
  const Point a{0, 3, 0};
  const Point b{3, -3, 0};
  const Point c{-3, -3, 0};
  const Point d{0, 0, 3};
  // Three negative rows above the corner of the triangle (2a + d, 2b + d, 2c + d) / 3 that two rows
  // at a make: the nearest point of the reduced hull is inside that corner.
  const Point apex{0, 1, 5};
  const std::vector<Point> rows{a,    a,          b,           b,           c,         c,
                                d,    {1, 0, -4}, {-2, 1, -5}, {0, -2, -6}, apex,      apex,
                                apex, {4, 1, 9},  {-4, 1, 9},  {0, 5, 9},   {0, -3, 9}};
  const auto distance = [&](const std::vector<Index>& chosen) {
    std::vector<float> values;
    std::vector<double> labels;
    for (const Index row : chosen) {
      values.insert(values.end(), rows[usize(row)].begin(), rows[usize(row)].end());
      labels.push_back(row < 10 ? 1 : -1);
    }
    const auto count = static_cast<Index>(chosen.size());
    TrainOptions options = settings("opt-soft-margin", KernelType::linear, 1e-6);
    options.opt_margin.margin_k = 3;
    options.opt_margin.draw = 6 * 12 * 12;
    options.opt_margin.carry_support = false;
    const TrainReport report =
        train(Dataset(Matrix::dense(count, 3, values), Labels::numeric(labels)), options).report;
    // Lemma 4.2: delta is k (n + 1) = 12 at most.
    EXPECT_EQ(detail_if_any(report, "round_bound"),
              round_bound(std::min(12.0, static_cast<double>(count)), count));
    return 1 / (3 * detail(report, "equivalent_cost") * detail(report, "margin"));
  };
  std::vector<Index> all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NEAR(distance(all), 4, 1e-6);
  EXPECT_NEAR(distance({0, 1, 2, 4, 6, 10, 11, 12}), 4, 1e-6) << "a, a, b, c, d, three negative";
  for (unsigned four = 0; four < 1U << 7U; ++four) {
    if (std::popcount(four) != 4) continue;
    std::vector<Index> chosen{10, 11, 12};
    for (Index row = 0; row < 7; ++row) {
      if ((four >> static_cast<unsigned>(row) & 1U) != 0) chosen.push_back(row);
    }
    EXPECT_GT(distance(chosen), 4.01) << four;
  }
}

}  // namespace
}  // namespace tamis::testing

// Curves against their definitions: every threshold counted anew, every pair of rows compared.
#include "tamis/curves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>

#include "calibration/calibration.hpp"
#include "eval/score_curves.hpp"
#include "model/linear_machine.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

// Few distinct scores make many ties.
std::vector<ScoredRow> random_rows(std::uint64_t seed, int count, int distinct) {
  std::mt19937_64 draw(seed);
  std::vector<ScoredRow> rows;
  for (int i = 0; i < count; ++i) {
    const double score = static_cast<double>(draw() % static_cast<std::uint64_t>(distinct)) /
                         static_cast<double>(distinct);
    rows.emplace_back(score, static_cast<double>(draw() % 1000) < 1000 * score);
  }
  return rows;
}

double naive_area(const std::vector<ScoredRow>& rows) {
  double wins = 0;
  double pairs = 0;
  for (const ScoredRow& a : rows) {
    for (const ScoredRow& b : rows) {
      if (!a.second || b.second) continue;
      pairs += 1;
      wins += a.first > b.first ? 1 : a.first == b.first ? 0.5 : 0;
    }
  }
  return wins / pairs;
}

struct Counts {
  double recall = 0;
  double alarms = 0;  // rate
  double precision = 0;
};

Counts counts_at(const std::vector<ScoredRow>& rows, double threshold) {
  double hits = 0;
  double positives = 0;
  double alarms = 0;
  for (const auto& [score, belongs] : rows) {
    positives += belongs ? 1 : 0;
    if (score >= threshold) (belongs ? hits : alarms) += 1;
  }
  const auto all = static_cast<double>(rows.size());
  return {hits / positives, alarms / (all - positives), hits / (hits + alarms)};
}

double naive_average_precision(const std::vector<ScoredRow>& rows) {
  std::set<double, std::greater<>> thresholds;
  for (const ScoredRow& row : rows) thresholds.insert(row.first);
  double sum = 0;
  double last = 0;
  for (const double threshold : thresholds) {
    const Counts now = counts_at(rows, threshold);
    sum += (now.recall - last) * now.precision;
    last = now.recall;
  }
  return sum;
}

TEST(Curves, AreasAreThoseOfTheDefinition) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const int distinct : {2, 7, 1000}) {
      const std::vector<ScoredRow> rows = random_rows(seed, 150, distinct);
      std::vector<ScoredRow> sorted = rows;
      ClassCurves curves;
      fill_score_curves(sorted, &curves);
      if (curves.rows == 0 || curves.others == 0) continue;
      EXPECT_NEAR(curves.roc_area, naive_area(rows), 1e-12);
      EXPECT_NEAR(curves.average_precision, naive_average_precision(rows), 1e-12);
    }
  }
}

TEST(Curves, PointsAreThoseOfThresholds) {
  const std::vector<ScoredRow> rows = random_rows(3, 200, 20);
  std::vector<ScoredRow> sorted = rows;
  ClassCurves curves;
  fill_score_curves(sorted, &curves);
  // As few rows as these lose no point but those that repeat the one before.
  std::set<std::pair<double, double>> roc{{0, 0}};
  std::set<std::pair<double, double>> precision;
  for (const ScoredRow& row : rows) {
    const Counts at = counts_at(rows, row.first);
    roc.insert({at.alarms, at.recall});
    precision.insert({at.recall, at.precision});
  }
  const auto as_set = [](const std::vector<CurvePoint>& points) {
    std::set<std::pair<double, double>> set;
    for (const CurvePoint& point : points) set.insert({point.x, point.y});
    return set;
  };
  EXPECT_EQ(as_set(curves.roc), roc);
  EXPECT_EQ(as_set(curves.precision), precision);
  EXPECT_EQ(curves.roc.front().x, 0);
  EXPECT_EQ(curves.roc.back().x, 1);
  EXPECT_EQ(curves.roc.back().y, 1);
}

TEST(Curves, ThinnedCurvesStayCloseAndSmall) {
  std::vector<ScoredRow> rows = random_rows(5, 20000, 1'000'000);
  ClassCurves curves;
  fill_score_curves(rows, &curves);
  EXPECT_LT(curves.roc.size(), 900U);
  EXPECT_LT(curves.precision.size(), 2000U);
  double area = 0;
  for (std::size_t p = 1; p < curves.roc.size(); ++p) {
    const CurvePoint a = curves.roc[p - 1];
    const CurvePoint b = curves.roc[p];
    EXPECT_LE(a.x, b.x);
    EXPECT_LE(a.y, b.y);
    area += (b.x - a.x) * (a.y + b.y) / 2;
  }
  EXPECT_NEAR(area, curves.roc_area, 1e-3);
}

TEST(Curves, OneClassAloneHasNone) {
  std::vector<ScoredRow> rows{{1, true}, {2, true}};
  ClassCurves curves;
  fill_score_curves(rows, &curves);
  EXPECT_EQ(curves.rows, 2);
  EXPECT_TRUE(curves.roc.empty());
  EXPECT_TRUE(std::isnan(curves.roc_area));
}

TEST(Curves, NotANumberIsTheLowestScore) {
  std::vector<ScoredRow> rows{{NAN, true}, {0, false}, {NAN, true}, {-5, false}};
  ClassCurves curves;
  fill_score_curves(rows, &curves);
  EXPECT_EQ(curves.roc_area, 0);
}

TEST(Curves, CalibrationBins) {
  const std::vector<ScoredRow> rows{{0, false},   {0.05, true}, {0.09, false},
                                    {0.95, true}, {1, true},    {0.5, true}};
  ClassCurves curves;
  fill_calibration(rows, &curves);
  ASSERT_EQ(curves.calibration.size(), 3U);
  EXPECT_EQ(curves.calibration[0].rows, 3);
  EXPECT_NEAR(curves.calibration[0].mean_probability, 0.14 / 3, 1e-15);
  EXPECT_NEAR(curves.calibration[0].frequency, 1.0 / 3, 1e-15);
  EXPECT_EQ(curves.calibration[1].low, 0.5);
  EXPECT_EQ(curves.calibration[1].high, 0.6);
  EXPECT_EQ(curves.calibration[2].rows, 2);
  // |1 - 0.14| + |1 - 0.5| + |2 - 1.95|, over six rows.
  EXPECT_NEAR(curves.calibration_error, (0.86 + 0.5 + 0.05) / 6, 1e-15);
}

Dataset three_classes(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  std::vector<double> labels;
  for (int i = 0; i < 240; ++i) {
    const int of = i % 3;
    values.push_back(normal(draw) + 2.0F * static_cast<float>(of));
    values.push_back(normal(draw) + (of == 1 ? 2.0F : 0.0F));
    labels.push_back(of);
  }
  return Dataset(Matrix::dense(240, 2, values), Labels::numeric(labels));
}

TEST(Curves, ClassesAgainstTheRest) {
  const Dataset data = three_classes(1);
  for (const Multiclass strategy : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    TrainOptions options;
    options.multiclass = strategy;
    const Model model = train(data, options).model;
    const DecisionValues values = decision_values(model, data.features());
    const std::vector<ClassCurves> curves = class_curves(model, data, values);
    ASSERT_EQ(curves.size(), 3U);
    for (Index c = 0; c < 3; ++c) {
      // The definition of scikit-learn's convention, pair by pair.
      std::vector<ScoredRow> rows;
      for (Index i = 0; i < data.rows(); ++i) {
        double score = values.at(i, c);
        if (strategy == Multiclass::one_vs_one) {
          const double pair[3] = {values.at(i, 0), values.at(i, 1), values.at(i, 2)};  // 01 02 12
          const double own[3][2] = {{pair[0], pair[1]}, {-pair[0], pair[2]}, {-pair[1], -pair[2]}};
          const bool votes[3][2] = {{pair[0] > 0, pair[1] > 0},
                                    {pair[0] <= 0, pair[2] > 0},
                                    {pair[1] <= 0, pair[2] <= 0}};
          const double sum = own[c][0] + own[c][1];
          score = (votes[c][0] ? 1 : 0) + (votes[c][1] ? 1 : 0) + sum / (3 * (std::abs(sum) + 1));
        }
        rows.emplace_back(score, data.labels().number(i) == static_cast<double>(c));
      }
      const ClassCurves& found = curves[static_cast<std::size_t>(c)];
      EXPECT_EQ(found.rows, 80);
      EXPECT_EQ(found.others, 160);
      EXPECT_NEAR(found.roc_area, naive_area(rows), 1e-12);
      EXPECT_GT(found.roc_area, 0.8);
      EXPECT_TRUE(found.calibration.empty());
    }
  }
}

TEST(Curves, TwoClassesAndOneTheModelDoesNotKnow) {
  const Model model = make_model(
      Task::classification, Labels::numeric({1, -1}), {},
      std::make_shared<LinearMachine>(LinearParts{
          .num_features = 1, .decision = Decision::single, .weights = {1}, .offsets = {0}}),
      "linear");
  const Dataset data(Matrix::dense(4, 1, {3, 2, 1, 0}), Labels::numeric({1, 7, 1, -1}));
  const auto curves = class_curves(model, data, decision_values(model, data.features()));
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].label, "1");
  EXPECT_EQ(curves[0].rows, 2);
  EXPECT_EQ(curves[0].others, 2);
  EXPECT_NEAR(curves[0].roc_area, 0.75, 1e-15);
  EXPECT_THROW(class_curves(model, data, decision_values(model, Matrix::dense(1, 1, {3}))),
               InvalidArgument);
}

Model identity_regression() {
  return make_model(
      Task::regression, {}, {},
      std::make_shared<LinearMachine>(LinearParts{
          .num_features = 1, .decision = Decision::single, .weights = {1}, .offsets = {0}}),
      "linear");
}

TEST(Curves, ResidualsAreCounted) {
  const Model model = identity_regression();
  std::mt19937_64 draw(1);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  std::vector<double> labels;
  for (int i = 0; i < 5000; ++i) {
    labels.push_back(i);
    values.push_back(static_cast<float>(i) + normal(draw));
  }
  const Dataset data(Matrix::dense(5000, 1, values), Labels::numeric(labels));
  const DecisionValues predicted = decision_values(model, data.features());
  const Residuals found = residuals(model, data, predicted);
  ASSERT_EQ(found.histogram.size(), 30U);
  std::vector<Index> counts(30, 0);
  for (Index i = 0; i < 5000; ++i) {
    const double residual = predicted.at(i, 0) - data.labels().number(i);
    EXPECT_GE(residual, found.low);
    EXPECT_LE(residual, found.high);
    double best = 0;
    for (int b = 1; b < 30; ++b) {
      if (residual >= found.low + b * ((found.high - found.low) / 30)) best = b;
    }
    ++counts[static_cast<std::size_t>(best)];
  }
  EXPECT_EQ(found.histogram, counts);
  ASSERT_EQ(found.sample.size(), 1000U);
  EXPECT_EQ(found.sample[1].x, 5);
  EXPECT_EQ(found.sample[1].y, predicted.at(5, 0));
}

TEST(Curves, EqualResidualsAndWords) {
  const Model model = identity_regression();
  const Dataset data(Matrix::dense(2, 1, {1, 2}), Labels::numeric({1, 2}));
  const DecisionValues values = decision_values(model, data.features());
  EXPECT_EQ(residuals(model, data, values).histogram[0], 2);
  const Dataset words(Matrix::dense(2, 1, {1, 2}),
                      Labels::text(std::vector<std::string>{"a", "b"}));
  EXPECT_THROW(residuals(model, words, values), DataError);
}

TEST(Curves, ErrorInterval) {
  // Wilson's own formula, solved for the rates at which |rate - p| = z sqrt(p (1 - p) / n).
  for (const auto& [errors, rows] : {std::pair{0, 10}, {3, 10}, {10, 10}, {50, 2000}}) {
    const ErrorInterval found = error_interval(errors, rows);
    const double rate = static_cast<double>(errors) / rows;
    for (const double p : {found.low, found.high}) {
      if ((errors == 0 && p == found.low) || (errors == rows && p == found.high)) continue;
      EXPECT_NEAR(std::abs(rate - p), 1.959963984540054 * std::sqrt(p * (1 - p) / rows), 1e-12);
    }
    EXPECT_LE(found.low, rate);
    EXPECT_GE(found.high, rate);
  }
  EXPECT_EQ(error_interval(0, 10).low, 0);
  EXPECT_EQ(error_interval(10, 10).high, 1);
}

}  // namespace
}  // namespace tamis::testing

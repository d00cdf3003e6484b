// Fits against hand examples and slow twins; the probabilities of models.
#include <gtest/gtest.h>

#include <cmath>

#include "calibration/calibration_fit.hpp"
#include "calibration/pairwise_coupling.hpp"
#include "model/linear_machine.hpp"
#include "model/model_parts.hpp"
#include "support/random_data.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

std::vector<ScoredRow> noisy_scores(Index rows, double scale, std::uint64_t seed,
                                    bool weighted = false) {
  Random random(seed);
  std::vector<ScoredRow> result;
  for (Index i = 0; i < rows; ++i) {
    const double f = random.normal();
    const bool first = random.uniform() < 1 / (1 + std::exp(-2 * f + 0.5));
    result.push_back({scale * f, first, weighted ? random.uniform(0.1, 3) : 1});
  }
  return result;
}

double platt_target(const std::vector<ScoredRow>& rows, bool first) {
  double weight = 0;
  for (const ScoredRow& row : rows) weight += row.is_first == first ? row.weight : 0;
  return first ? (weight + 1) / (weight + 2) : 1 / (weight + 2);
}

// Derivative of the negative log likelihood by a (times f) or b (times 1).
double slope(const std::vector<ScoredRow>& rows, double a, double b, bool by_a) {
  const double targets[] = {platt_target(rows, false), platt_target(rows, true)};
  double sum = 0;
  for (const ScoredRow& row : rows) {
    const double p = 1 / (1 + std::exp(a * row.value + b));
    sum += row.weight * (by_a ? row.value : 1) * (targets[row.is_first ? 1 : 0] - p);
  }
  return sum;
}

// Bisection within bisection: for each a the best b, for which the slope rises in a.
std::pair<double, double> naive_sigmoid(const std::vector<ScoredRow>& rows) {
  const auto best_b = [&](double a) {
    double low = -50;
    double high = 50;
    for (int i = 0; i < 100; ++i) {
      const double b = (low + high) / 2;
      (slope(rows, a, b, false) < 0 ? low : high) = b;
    }
    return low;
  };
  double low = -50;
  double high = 50;
  for (int i = 0; i < 100; ++i) {
    const double a = (low + high) / 2;
    (slope(rows, a, best_b(a), true) < 0 ? low : high) = a;
  }
  return {low, best_b(low)};
}

TEST(Sigmoid, IsTheLikeliest) {
  for (const bool weighted : {false, true}) {
    const auto rows = noisy_scores(200, 1, 1, weighted);
    const Calibrator fitted = fit_sigmoid(rows);
    const auto [a, b] = naive_sigmoid(rows);
    EXPECT_NEAR(fitted.slope, a, 1e-6);
    EXPECT_NEAR(fitted.intercept, b, 1e-6);
    EXPECT_LT(fitted.slope, 0);
  }
}

// A value of 1 for three of four first-class rows, 0 for one of four: both constraints can be met
// exactly, at p(0) and p(1) equal to the mean targets.
TEST(Sigmoid, TwoValuesByHand) {
  std::vector<ScoredRow> rows;
  for (int i = 0; i < 4; ++i) {
    rows.push_back({1, i < 3, 1});
    rows.push_back({0, i < 1, 1});
  }
  const double first = 5.0 / 6;
  const double second = 1.0 / 6;
  const Calibrator fitted = fit_sigmoid(rows);
  EXPECT_NEAR(calibrated(CalibrationMethod::sigmoid, fitted, 1), (3 * first + second) / 4, 1e-9);
  EXPECT_NEAR(calibrated(CalibrationMethod::sigmoid, fitted, 0), (first + 3 * second) / 4, 1e-9);
}

TEST(Sigmoid, ScaleOfValuesDoesNotMatter) {
  const Calibrator plain = fit_sigmoid(noisy_scores(300, 1, 2));
  for (const double scale : {1e-8, 1e8}) {
    const Calibrator other = fit_sigmoid(noisy_scores(300, scale, 2));
    EXPECT_NEAR(other.slope * scale, plain.slope, 1e-6);
    EXPECT_NEAR(other.intercept, plain.intercept, 1e-6);
  }
}

TEST(Sigmoid, HardCasesStayFinite) {
  const std::vector<std::vector<ScoredRow>> cases{
      {{-1, false, 1}, {1, true, 1}},
      {{-1e300, false, 1}, {1e300, true, 1}},
      {{2, false, 1}, {2, true, 1}, {2, true, 1}},  // one value for all
      {{0, false, 1}, {0, true, 1}},
      {{1, true, 1}, {2, true, 1}},  // one class
      {}};
  for (const auto& rows : cases) {
    const Calibrator fitted = fit_sigmoid(rows);
    EXPECT_TRUE(std::isfinite(fitted.slope));
    EXPECT_TRUE(std::isfinite(fitted.intercept));
  }
  // Apart, but never certain: Platt's targets for one row each are 2/3 and 1/3.
  EXPECT_NEAR(calibrated(CalibrationMethod::sigmoid, fit_sigmoid(cases[0]), 1), 2.0 / 3, 1e-6);
}

TEST(Sigmoid, FarValuesDoNotOverflow) {
  Calibrator steep;
  steep.slope = -1e6;
  EXPECT_EQ(calibrated(CalibrationMethod::sigmoid, steep, 1e6), 1);
  EXPECT_EQ(calibrated(CalibrationMethod::sigmoid, steep, -1e6), 0);
}

// Least squares under "rising", by its minimax formula: the largest over starts before i of the
// smallest mean up to an end after i.
std::vector<double> naive_isotonic(const std::vector<ScoredRow>& sorted) {
  const double targets[] = {platt_target(sorted, false), platt_target(sorted, true)};
  std::vector<double> result;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    double best = -1;
    for (std::size_t s = 0; s <= i; ++s) {
      double least = 2;
      double sum = 0;
      double weight = 0;
      for (std::size_t e = s; e < sorted.size(); ++e) {
        sum += sorted[e].weight * targets[sorted[e].is_first ? 1 : 0];
        weight += sorted[e].weight;
        if (e >= i) least = std::min(least, sum / weight);
      }
      best = std::max(best, least);
    }
    result.push_back(best);
  }
  return result;
}

TEST(Isotonic, IsTheBestRisingFunction) {
  for (const std::uint64_t seed : {3U, 4U, 5U}) {
    auto rows = noisy_scores(60, 1, seed, seed == 5);
    const Calibrator fitted = fit_isotonic(rows);
    std::sort(rows.begin(), rows.end(),
              [](const ScoredRow& a, const ScoredRow& b) { return a.value < b.value; });
    const std::vector<double> expected = naive_isotonic(rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(calibrated(CalibrationMethod::isotonic, fitted, rows[i].value), expected[i],
                  1e-12);
  }
}

TEST(Isotonic, ByHand) {
  // Values 1, 2, 2, 3, 4: second, first, second, second, first. Equal values share a probability,
  // and 3 is pooled with them. Targets: 3/4 and 1/5.
  const Calibrator fitted =
      fit_isotonic({{1, false, 1}, {2, true, 1}, {2, false, 1}, {3, false, 1}, {4, true, 1}});
  const auto p = [&](double value) {
    return calibrated(CalibrationMethod::isotonic, fitted, value);
  };
  EXPECT_NEAR(p(1), 0.2, 1e-12);
  EXPECT_NEAR(p(2), (0.75 + 0.4) / 3, 1e-12);
  EXPECT_NEAR(p(2.5), p(2), 1e-12);
  EXPECT_NEAR(p(3), p(2), 1e-12);
  EXPECT_NEAR(p(4), 0.75, 1e-12);
  EXPECT_NEAR(p(3.5), (p(3) + p(4)) / 2, 1e-12) << "a line between two steps";
  EXPECT_EQ(p(-100), p(1)) << "constant outside";
  EXPECT_EQ(p(100), p(4));
}

// Solves the optimality conditions [Q e; e' 0] [p; b] = [0; 1] by elimination.
std::vector<double> naive_coupling(const std::vector<double>& pairs, std::size_t k) {
  std::vector<std::vector<double>> m(k + 1, std::vector<double>(k + 2, 0.0));
  std::size_t pair = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i + 1; j < k; ++j, ++pair) {
      const double r = pairs[pair];
      m[i][i] += (1 - r) * (1 - r);
      m[j][j] += r * r;
      m[i][j] = m[j][i] = -r * (1 - r);
    }
    m[i][k] = m[k][i] = 1;
  }
  m[k][k + 1] = 1;
  for (std::size_t c = 0; c <= k; ++c) {
    std::size_t best = c;
    for (std::size_t r = c; r <= k; ++r) {
      if (std::abs(m[r][c]) > std::abs(m[best][c])) best = r;
    }
    std::swap(m[c], m[best]);
    for (std::size_t r = 0; r <= k; ++r) {
      const double factor = r == c ? 0 : m[r][c] / m[c][c];
      for (std::size_t j = c; j <= k + 1; ++j) m[r][j] -= factor * m[c][j];
    }
  }
  std::vector<double> p;
  for (std::size_t i = 0; i < k; ++i) p.push_back(m[i][k + 1] / m[i][i]);
  return p;
}

TEST(PairwiseCoupling, SolvesItsEquations) {
  Random random(6);
  for (std::size_t k = 2; k <= 12; ++k) {
    std::vector<double> pairs(k * (k - 1) / 2);
    for (double& r : pairs) r = random.uniform(0.02, 0.98);
    std::vector<double> p(k);
    couple_pairs(pairs, p);
    const std::vector<double> expected = naive_coupling(pairs, k);
    double sum = 0;
    for (std::size_t c = 0; c < k; ++c) {
      EXPECT_NEAR(p[c], expected[c], 1e-4) << k << " classes";
      EXPECT_GE(p[c], 0);
      sum += p[c];
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

TEST(PairwiseCoupling, ConsistentPairsGiveTheirProbabilities) {
  const std::vector<double> truth{0.5, 0.3, 0.15, 0.05};
  std::vector<double> pairs;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) pairs.push_back(truth[i] / (truth[i] + truth[j]));
  }
  std::vector<double> p(4);
  couple_pairs(pairs, p);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(p[c], truth[c], 1e-4);
}

TrainOptions linear_options() {
  TrainOptions options;
  options.method = "linear";
  options.bias = {Bias::Rule::penalized, 1};
  return options;
}

TEST(Calibrate, GivesProbabilitiesAndKeepsLabels) {
  for (const int classes : {2, 3, 5}) {
    for (const Multiclass way : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
      for (const auto method : {CalibrationMethod::sigmoid, CalibrationMethod::isotonic}) {
        const std::vector<std::string> names{"a", "b", "c", "d", "e"};
        const Dataset all = named(clouds(1200, 4, classes, 7, 2), names);
        std::vector<Index> rows = iota_rows(1200);
        Random(7).shuffle(rows);
        const auto part = [&](std::size_t begin, std::size_t end) {
          return all.select(std::span(rows).subspan(begin, end - begin));
        };
        TrainOptions options = linear_options();
        options.multiclass = way;
        const Model model = train(part(0, 400), options).model;
        EXPECT_FALSE(model.has_probabilities());
        EXPECT_THROW(probabilities(model, all.features()), InvalidArgument);
        const Model calibrated = calibrate(model, part(400, 800), method);
        const Dataset test = part(800, 1200);
        EXPECT_EQ(predict(model, test.features()), predict(calibrated, test.features()));
        const Probabilities p = probabilities(calibrated, test.features());
        EXPECT_EQ(p.cols, classes);
        for (Index i = 0; i < p.rows; ++i) {
          double sum = 0;
          for (Index c = 0; c < p.cols; ++c) {
            EXPECT_GE(p.at(i, c), 0);
            sum += p.at(i, c);
          }
          EXPECT_NEAR(sum, 1, 1e-9);
        }
        const Evaluation result = evaluate(calibrated, test);
        ASSERT_TRUE(result.has_probabilities);
        EXPECT_FALSE(evaluate(model, test).has_probabilities);
        // Better than knowing nothing, and than being as sure of every label as of the average.
        const double k = classes;
        EXPECT_LT(result.log_loss, 0.8 * std::log(k));
        const double sure = 1 - result.error_rate;
        EXPECT_LT(result.log_loss, -sure * std::log(sure) -
                                       result.error_rate * std::log(result.error_rate / (k - 1)));
      }
    }
  }
}

TEST(Calibrate, LossesByHand) {
  // f(x) = x; p = 1 / (1 + exp(-x)).
  LinearParts parts;
  parts.num_features = 1;
  parts.weights = {1};
  parts.offsets = {0};
  auto calibration = std::make_shared<Calibration>();
  calibration->num_classes = 2;
  calibration->machines.push_back({-1, 0, {}, {}});
  const Model model =
      with_calibration(make_model(Task::classification, Labels::numeric({1, -1}), {},
                                  std::make_shared<const LinearMachine>(parts), "test"),
                       calibration);
  const float three = std::log(3.0F);
  const Dataset data(Matrix::dense(3, 1, {three, three, -three}), Labels::numeric({1, -1, -1}));
  const Evaluation result = evaluate(model, data);
  EXPECT_NEAR(result.log_loss, -(2 * std::log(0.75) + std::log(0.25)) / 3, 1e-6);
  EXPECT_NEAR(result.brier, (0.0625 + 0.5625 + 0.0625) / 3, 1e-6);
}

TEST(Calibrate, WeightsAreCopies) {
  const Dataset train_rows = named(clouds(200, 3, 2, 8), {-1.0, 1.0});
  const Model model = train(train_rows, linear_options()).model;
  const Clouds held = clouds(120, 3, 2, 8);
  std::vector<double> weights;
  std::vector<Index> copies;
  for (Index i = 0; i < 120; ++i) {
    weights.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Dataset weighted = named(held, {-1.0, 1.0}, weights);
  const Dataset copied = named(held, std::vector<double>{-1.0, 1.0}).select(copies);
  for (const auto method : {CalibrationMethod::sigmoid, CalibrationMethod::isotonic}) {
    const Probabilities a = probabilities(calibrate(model, weighted, method), held.features);
    const Probabilities b = probabilities(calibrate(model, copied, method), held.features);
    for (Index i = 0; i < 120; ++i) EXPECT_NEAR(a.at(i, 0), b.at(i, 0), 1e-6);
  }
}

TEST(Calibrate, RefusesWhatItCannotUse) {
  const Dataset data = named(clouds(60, 2, 3, 9), {1.0, 2.0, 3.0});
  const Model model = train(data, linear_options()).model;
  EXPECT_THROW(calibrate(model, Dataset(data.features())), DataError);
  EXPECT_THROW(calibrate(model, named(clouds(60, 2, 3, 9), {1.0, 2.0, 7.0})), DataError);
  EXPECT_THROW(calibrate(model, named(clouds(60, 2, 2, 9), {1.0, 2.0})), DataError);
  EXPECT_THROW(calibrate(Model(), data), InvalidArgument);
  TrainOptions options = linear_options();
  options.task = Task::regression;
  EXPECT_THROW(calibrate(train(data, options).model, data), InvalidArgument);
  EXPECT_THROW(train_calibrated(data, options, 3), InvalidArgument);
  EXPECT_THROW(train_calibrated(data, linear_options(), 1), InvalidArgument);
}

TEST(TrainCalibrated, FitsOnRowsHeldOut) {
  const Dataset data = named(clouds(400, 3, 3, 10, 2), std::vector<std::string>{"x", "y", "z"});
  const Dataset test = named(clouds(900, 3, 3, 10, 2), std::vector<std::string>{"x", "y", "z"});
  const TrainResult plain = train(data, linear_options());
  const TrainResult result = train_calibrated(data, linear_options(), 4);
  EXPECT_EQ(predict(plain.model, test.features()), predict(result.model, test.features()));
  EXPECT_EQ(result.report.phase_seconds.back().first, "folds");
  EXPECT_LT(evaluate(result.model, test).log_loss, 0.8 * std::log(3.0));
  // The same folds for any number of threads.
  RunControl one;
  one.threads = 1;
  const TrainResult again =
      train_calibrated(data, linear_options(), 4, CalibrationMethod::sigmoid, one);
  EXPECT_EQ(probabilities(again.model, test.features()).values,
            probabilities(result.model, test.features()).values);
}

// An RBF machine that knows its rows by heart is sure of them; held-out scores are not.
TEST(TrainCalibrated, IsNotFooledByTheMachinesOwnRows) {
  const Dataset all = named(clouds(600, 3, 2, 11, 1), {-1.0, 1.0});
  const std::vector<Index> rows = iota_rows(600);
  const Dataset data = all.select(std::span(rows).first(300));
  const Dataset test = all.select(std::span(rows).last(300));
  TrainOptions options;
  options.gamma = {Gamma::Rule::value, 1};
  options.cost = 100;
  const Model own = calibrate(train(data, options).model, data);
  const Model held_out = train_calibrated(data, options, 5).model;
  EXPECT_GT(evaluate(own, test).log_loss, evaluate(held_out, test).log_loss);
}

TEST(TrainCalibrated, CancelledItStillHasAMachine) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const Dataset data = named(clouds(100, 3, 2, 13), {-1.0, 1.0});
  const TrainResult result =
      train_calibrated(data, linear_options(), 3, CalibrationMethod::sigmoid, control);
  EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
  EXPECT_FALSE(result.model.has_probabilities());
  EXPECT_EQ(predict(result.model, data.features()).size(), 100);
}

}  // namespace
}  // namespace tamis::testing

// Random sampling must end at the optimum of the full problem: checked by certify(), by a slow
// solver of its own on all rows, and by the exact method.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "methods/opt_margin_problems.hpp"
#include "methods/sampling/draw_margin.hpp"
#include "support/naive_qp.hpp"
#include "support/random_data.hpp"
#include "tamis/certify.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> signs(const Dataset& data) {
  std::vector<double> y;
  for (Index i = 0; i < data.rows(); ++i) y.push_back(data.labels().number(i));
  return y;
}

TEST(OptMargin, EveryRunThatEndsIsCertified) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 20 + static_cast<Index>(seed * 7 % 400);
    const Dataset data = halves(rows, 1 + static_cast<Index>(seed % 5), seed, 0.2);
    const TrainOptions options = settings("opt-margin", kKernels[seed % 3]);
    const auto [model, report] = train(data, options);
    ASSERT_EQ(report.stop_reason, StopReason::converged);
    TrainOptions claim = options;
    claim.cost = kInfinity;
    const Certificate certificate = certify(model, data, claim);
    EXPECT_TRUE(certificate.certified) << certificate.violation;
    EXPECT_LT(certificate.relative_gap, 1e-3);
    EXPECT_NEAR(report.objective, -certificate.dual, 1e-3 * certificate.dual);
    EXPECT_LE(report.violation, options.eps);
  }
}

// (P3) with D = 1 on all rows, by a solver that shares no code with this library's.
TEST(OptMargin, TheDistanceIsThatOfTheHulls) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Dataset data = halves(50, 2, seed, 0.3);
    TrainOptions options = settings("opt-margin", kKernels[seed % 3], 1e-6);
    options.opt_margin.draw = 8;
    const auto [model, report] = train(data, options);
    const Kernel kernel{options.kernel_or_default(), 0.5, 1, 2};
    const Gram k = gram(kernel, data.features());
    const qp::Problem hulls = hull_problem(signs(data), 1);
    const double half_square = naive_objective(hulls, k, naive_solve(hulls, k));
    // |w| of the hulls is the distance of the margins: twice `margin`.
    EXPECT_NEAR(2 * detail(report, "margin"), std::sqrt(2 * half_square),
                1e-4 * std::sqrt(2 * half_square));
  }
}

TEST(OptMargin, RoundsStayBelowTheBound) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TrainOptions options = settings("opt-margin", KernelType::linear);
    options.opt_margin.draw.reset();
    options.opt_margin.carry_support = false;
    const TrainReport report = train(halves(20000, 5, seed, 0.05), options).report;
    EXPECT_LT(detail(report, "sampling_rounds"), detail(report, "round_bound"));
    EXPECT_LE(report.support_vectors, 6);  // d + 1
  }
}

TEST(OptMargin, WithoutCarryingItIsStillTheOptimum) {
  const Dataset data = halves(400, 2, 5, 0.2);
  TrainOptions options = settings("opt-margin", KernelType::linear);
  const double margin = detail(train(data, options).report, "margin");
  options.opt_margin.carry_support = false;
  const auto [model, report] = train(data, options);
  EXPECT_NEAR(detail(report, "margin"), margin, 1e-3 * margin);
  options.cost = kInfinity;
  EXPECT_TRUE(certify(model, data, options).certified);
}

TEST(OptMargin, ClassesThatMeetAreRefusedWithAdvice) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Dataset data = halves(200, 2, seed, 0.2, 0.05);
    try {
      train(data, settings("opt-margin", KernelType::linear));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("opt-soft-margin"), std::string::npos);
    }
  }
}

TEST(OptSoftMargin, TheCostFormIsTheExactMachine) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 20 + static_cast<Index>(seed * 11 % 500);
    const Dataset data = halves(rows, 1 + static_cast<Index>(seed % 4), seed, 0, 0.1);
    TrainOptions options = settings("opt-soft-margin", kKernels[seed % 3]);
    options.cost = seed % 2 == 0 ? 0.3 : 4;
    options.loss = seed % 5 == 0 ? SlackLoss::l2 : SlackLoss::l1;
    const auto [model, report] = train(data, options);
    ASSERT_EQ(report.stop_reason, StopReason::converged);
    const Certificate certificate = certify(model, data, options);
    EXPECT_TRUE(certificate.certified) << certificate.violation;
    options.method = "exact";
    const double exact = train(data, options).report.objective;
    EXPECT_NEAR(report.objective, exact, 1e-4 * std::abs(exact));
  }
}

// The reduced hulls are the C-SVC with the C that the report names: the same w, scaled to margin 1.
TEST(OptSoftMargin, ReducedHullsAreACostMachine) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 60 + static_cast<Index>(seed * 13 % 300);
    const Dataset data = halves(rows, 2, seed, 0, 0.05);
    TrainOptions options = settings("opt-soft-margin", kKernels[seed % 3]);
    options.opt_margin.margin_k = 0.4 * static_cast<double>(rows);
    const auto [model, report] = train(data, options);
    ASSERT_EQ(report.stop_reason, StopReason::converged);
    EXPECT_NEAR(detail(report, "nu"),
                2 * options.opt_margin.margin_k.value / static_cast<double>(rows), 1e-12);
    TrainOptions claim = settings("exact", options.kernel_or_default());
    claim.cost = detail(report, "equivalent_cost");
    const Certificate certificate = certify(model, data, claim);
    EXPECT_TRUE(certificate.certified) << certificate.violation;
    const Model exact = train(data, claim).model;
    const DecisionValues a = decision_values(model, data.features());
    const DecisionValues b = decision_values(exact, data.features());
    for (Index i = 0; i < rows; ++i) EXPECT_NEAR(a.at(i, 0), b.at(i, 0), 0.01);
  }
}

TEST(OptSoftMargin, ReducedHullsAgainstTheSlowSolver) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Dataset data = halves(40, 2, seed, 0, 0.05);
    TrainOptions options = settings("opt-soft-margin", kKernels[seed % 3], 1e-6);
    options.opt_margin.margin_k = 12;
    options.opt_margin.draw = 26;
    const auto [model, report] = train(data, options);
    const Gram k = gram(Kernel{options.kernel_or_default(), 0.5, 1, 2}, data.features());
    const qp::Problem hulls = hull_problem(signs(data), 1.0 / 12);
    const std::vector<double> beta = naive_solve(hulls, k);
    // The same direction: <w, w'> = |w| |w'|, from decision values without their offset.
    const std::vector<double> slow = k.times(beta);
    const DecisionValues quick = decision_values(model, data.features());
    const double scale = (quick.at(0, 0) - quick.at(1, 0)) / (slow[0] - slow[1]);
    for (Index i = 2; i < 40; ++i)
      EXPECT_NEAR(quick.at(i, 0) - quick.at(0, 0), scale * (slow[usize(i)] - slow[0]), 1e-3);
  }
}

// 47 classes have 1,081 pairs.
TEST(OptSoftMargin, TablesListTheFirstThousandMachinesAndSaySo) {
  std::vector<double> names(47);
  std::iota(names.begin(), names.end(), 0.0);
  const TrainOptions options = settings("opt-soft-margin", KernelType::linear);
  const TrainReport report = train(named(clouds(188, 2, 47, 4), names), options).report;
  EXPECT_EQ(report.machines, 1081);
  EXPECT_EQ(detail(report, "listed_binary_svms"), 1000);
  EXPECT_EQ(report.tables[0].name, "sampling");
  EXPECT_EQ(report.tables[0].rows.size(), 1000U);
  EXPECT_EQ(report.tables[1].rows.back().front(), 1000);
}

TEST(OptSoftMargin, SmallestK) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Dataset data = halves(300, 2, seed, 0.1, 0.03);
    TrainOptions options = settings("opt-soft-margin", KernelType::linear);
    options.opt_margin.margin_k = MarginK::Rule::smallest;
    const auto [model, report] = train(data, options);
    const double k = detail(report, "k");
    EXPECT_GT(k, 1);
    TrainOptions claim = settings("exact", KernelType::linear);
    claim.cost = detail(report, "equivalent_cost");
    EXPECT_TRUE(certify(model, data, claim).certified);
    options.opt_margin.margin_k = k - 1;
    EXPECT_THROW(train(data, options), DataError);
    options.opt_margin.margin_k = k + 1;
    EXPECT_NO_THROW(train(data, options));
  }
}

TEST(OptSoftMargin, KLargerThanAClassIsRefused) {
  TrainOptions options = settings("opt-soft-margin", KernelType::linear);
  options.opt_margin.margin_k = 60;
  EXPECT_THROW(train(halves(100, 2, 1, 0.1), options), InvalidArgument);
  options.opt_margin.margin_k = 50;  // every row at its limit: the hulls are the two means
  EXPECT_NO_THROW(train(halves(100, 2, 1, 0.1), options));
}

TEST(OptSoftMargin, AWeightIsSoManyCopiesForHullsToo) {
  const Dataset data = halves(80, 2, 3, 0, 0.05);
  std::vector<double> weights;
  std::vector<Index> copies;
  for (Index i = 0; i < 80; ++i) {
    weights.push_back(static_cast<double>(1 + i / 2 % 3));
    for (Index c = 0; c <= i / 2 % 3; ++c) copies.push_back(i);
  }
  TrainOptions options = settings("opt-soft-margin", KernelType::rbf, 1e-6);
  options.opt_margin.margin_k = 60;
  const Model a = train(Dataset(data.features(), data.labels(), weights), options).model;
  const Model b = train(data.select(copies), options).model;
  const DecisionValues of_a = decision_values(a, data.features());
  const DecisionValues of_b = decision_values(b, data.features());
  for (Index i = 0; i < 80; ++i) EXPECT_NEAR(of_a.at(i, 0), of_b.at(i, 0), 1e-4);
}

/// (P7) on all rows by the slow solver: predictions, and the fitted tube.
struct SlowTube {
  std::vector<double> predictions;
  double fitted = 0;
};
SlowTube slow_tube(const Kernel& kernel, const Dataset& data, double tube, double k) {
  const Index n = data.rows();
  const Gram features = gram(kernel, data.features());
  std::vector<double> response;
  std::vector<double> y;
  for (Index p = 0; p < 2 * n; ++p) {
    y.push_back(p < n ? 1 : -1);
    response.push_back(data.labels().number(p % n) + y.back() * tube);
  }
  Gram both{2 * n, {}};
  for (Index p = 0; p < 2 * n; ++p) {
    for (Index q = 0; q < 2 * n; ++q)
      both.values.push_back(features.at(p % n, q % n) + response[usize(p)] * response[usize(q)]);
  }
  const qp::Problem problem = hull_problem(y, 1 / k);
  const std::vector<double> beta = naive_solve(problem, both);
  const std::vector<double> value = both.times(beta);
  double sigma = 0;
  double theta[2] = {0, 0};
  double count[2] = {0, 0};
  for (std::size_t p = 0; p < beta.size(); ++p) {
    sigma += beta[p] * response[p];
    if (beta[p] == 0 || std::abs(beta[p]) > (1 - 1e-9) / k) continue;
    theta[y[p] > 0 ? 0 : 1] += value[p];
    ++count[y[p] > 0 ? 0 : 1];
  }
  theta[0] /= count[0];
  theta[1] /= count[1];
  SlowTube result;
  result.fitted = std::abs(tube - (theta[0] - theta[1]) / (2 * sigma));
  for (Index i = 0; i < n; ++i) {
    const double of_features = value[usize(i)] - sigma * response[usize(i)];
    result.predictions.push_back(((theta[0] + theta[1]) / 2 - of_features) / sigma);
  }
  return result;
}

TEST(Tubes, PredictAsTheProblemOnAllRows) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Dataset data = wave(30, 1, seed, 0.2);
    TrainOptions options =
        settings("opt-soft-margin", seed % 2 == 0 ? KernelType::rbf : KernelType::linear, 1e-6);
    options.task = Task::regression;
    options.tube = 1.5;
    options.opt_margin.margin_k =
        7.5;  // so that some coefficient of each side is free and tells theta
    options.opt_margin.draw = 24;
    const auto [model, report] = train(data, options);
    const SlowTube slow = slow_tube(Kernel{options.kernel_or_default(), 0.5, 1, 2}, data, 1.5, 7.5);
    EXPECT_NEAR(detail(report, "fitted_tube"), slow.fitted, 1e-4);
    const Labels predicted = predict(model, data.features());
    for (Index i = 0; i < 30; ++i)
      EXPECT_NEAR(predicted.number(i), slow.predictions[usize(i)], 1e-3);
  }
}

// A narrow tube around noise: the hulls nearly meet for most k, where pairs alone would creep.
// More points than are solved on a stored matrix, with a start whose sums have to be found first:
// told to stop before they are, nothing is known but the start's coefficients.
TEST(Tubes, StoppedBeforeTheStartIsKnownThereIsNoAnswer) {
  const Dataset data = wave(1500, 2, 1);
  RowVector<double> numbers;
  std::vector<Index> draw;
  for (Index i = 0; i < data.rows(); ++i) numbers.push_back(data.labels().number(i));
  for (Index p = 0; p < 2 * data.rows(); ++p) draw.push_back(p);
  const TubePoints points({.gamma = 1}, std::make_shared<const LocalPointRows>(data.features()),
                          numbers, RowVector<double>(usize(data.rows()), 1.0), 0.1, 1 << 20);
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  EvaluationCounts counts;
  const DrawMargin answer = solve_local_margin(points, {MarginForm::Kind::hulls, 375, 0}, draw,
                                               nullptr, {}, control, &counts);
  EXPECT_EQ(answer.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(answer.is_separated) << "nobody looked";
  EXPECT_TRUE(answer.w.points.empty());
  EXPECT_TRUE(std::isfinite(answer.half_margin) && std::isfinite(answer.offset));
}

TEST(Tubes, NoiseEndsSoon) {
  Random random(3);
  std::vector<float> values;
  std::vector<double> numbers;
  for (Index i = 0; i < 100; ++i) {
    for (int j = 0; j < 2; ++j) values.push_back(static_cast<float>(random.normal()));
    numbers.push_back(random.normal());
  }
  const Dataset data(Matrix::dense(100, 2, values), Labels::numeric(numbers));
  TrainOptions options = settings("opt-soft-margin", KernelType::rbf, 1e-3);
  options.task = Task::regression;
  options.tube = 0.1;
  options.opt_margin.draw.reset();  // all rows
  options.max_iterations = 100'000;
  EXPECT_EQ(train(data, options).report.stop_reason, StopReason::converged);
}

// (P7) is the epsilon-SVR with the tube it fits and the C it reports.
TEST(Tubes, AreCertifiedAsEpsilonRegression) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Dataset data = wave(100 + static_cast<Index>(seed * 17 % 300), 2, seed, 0.2);
    TrainOptions options = settings("opt-soft-margin", KernelType::rbf, 1e-3);
    options.task = Task::regression;
    options.tube = 0.7;
    options.opt_margin.nu = 0.2 + 0.02 * static_cast<double>(seed);
    const auto [model, report] = train(data, options);
    ASSERT_EQ(report.stop_reason, StopReason::converged);
    TrainOptions claim = options;
    claim.cost = detail(report, "equivalent_cost");
    claim.tube = detail(report, "fitted_tube");
    const Certificate certificate = certify(model, data, claim);
    EXPECT_TRUE(certificate.certified) << certificate.violation;
    EXPECT_NEAR(report.objective, -certificate.dual, 1e-3 * (1 + std::abs(certificate.dual)));
  }
}

// The hard tube holds every row, and touches some.
TEST(Tubes, AHardTubeHoldsEveryRow) {
  const Dataset data = wave(200, 1, 5, 0.2);
  TrainOptions options = settings("opt-margin", KernelType::linear, 1e-5);
  options.task = Task::regression;
  options.tube = 3;
  const auto [model, report] = train(data, options);
  const Labels predicted = predict(model, data.features());
  double largest = 0;
  for (Index i = 0; i < 200; ++i)
    largest = std::max(largest, std::abs(predicted.number(i) - data.labels().number(i)));
  EXPECT_NEAR(detail(report, "fitted_tube"), largest, 1e-3);
  options.tube = 0.1;
  EXPECT_THROW(train(data, options), DataError);
}

}  // namespace
}  // namespace tamis::testing

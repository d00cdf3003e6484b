#include "training/metric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/random_data.hpp"
#include "tamis/certify.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/system.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

TrainOptions with_rounds(int rounds) {
  TrainOptions options;
  options.method = "exact";
  options.cost = 4;
  options.metric_rounds = rounds;
  return options;
}

TEST(Metric, FindsTheColumnsThatDecide) {
  const Dataset rows = two_of_twelve(1200, 1);
  const Dataset test = two_of_twelve(1000, 2);
  const double plain = evaluate(train(rows, with_rounds(0)).model, test).error_rate;
  for (const KernelType kernel : {KernelType::rbf, KernelType::polynomial, KernelType::laplacian}) {
    TrainOptions options = with_rounds(3);
    options.kernel = kernel;
    options.degree = 2;
    const auto [model, report] = train(rows, options);
    const std::vector<float>& weights = model.scaling().weights;
    ASSERT_EQ(weights.size(), 12U) << kernel_name(kernel);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      if (j == 3 || j == 7) continue;
      // The weights of an L1 distance are not squared in it, and smaller ones count for more.
      const float factor = kernel == KernelType::laplacian ? 2.5F : 4.0F;
      EXPECT_GT(weights[3], factor * weights[j]) << kernel_name(kernel) << j;
      EXPECT_GT(weights[7], factor * weights[j]) << kernel_name(kernel) << j;
    }
    EXPECT_LT(evaluate(model, test).error_rate, plain / 2) << kernel_name(kernel);
    ASSERT_EQ(report.remarks.size(), 1U);
    EXPECT_TRUE(report.remarks[0].starts_with("feature weights: round ")) << report.remarks[0];
  }
}

// Two classes by the sign of a product of two directions that no column has alone.
Dataset turned_columns(Index rows, std::uint64_t seed) {
  const Matrix features = random_matrix(rows, 8, seed);
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    const float a = features.at(i, 0) + features.at(i, 1) + features.at(i, 2) + features.at(i, 3);
    const float b = features.at(i, 0) - features.at(i, 1) + features.at(i, 2) - features.at(i, 3);
    labels.push_back(a * b > 0 ? 1 : -1);
  }
  return Dataset(features, Labels::numeric(labels));
}

TEST(Metric, AFullMatrixFindsDirectionsThatNoColumnHas) {
  const Dataset rows = turned_columns(1500, 1);
  const Dataset test = turned_columns(1000, 2);
  for (const KernelType kernel : {KernelType::rbf, KernelType::polynomial, KernelType::laplacian}) {
    TrainOptions options = with_rounds(3);
    options.kernel = kernel;
    options.degree = 2;
    options.cost = 1;
    const double diagonal = evaluate(train(rows, options).model, test).error_rate;
    options.metric = MetricForm::full;
    const auto [model, report] = train(rows, options);
    const Scaling& scaling = model.scaling();
    ASSERT_EQ(scaling.matrix.size(), 64U) << kernel_name(kernel);
    // Polynomials of degree 2 have all products of columns anyway.
    const double most = kernel == KernelType::polynomial ? 0.06 : 0.9 * diagonal;
    EXPECT_LT(evaluate(model, test).error_rate, most) << kernel_name(kernel);
    EXPECT_TRUE(report.remarks.at(0).starts_with("full metric: round ")) << report.remarks[0];
    for (std::size_t i = 0; i < 8; ++i) {
      double squares = 0;
      for (std::size_t j = 0; j < 8; ++j) {
        EXPECT_EQ(scaling.matrix[i * 8 + j], scaling.matrix[j * 8 + i]);
        squares += std::pow(static_cast<double>(scaling.matrix[i * 8 + j]), 2);
      }
      EXPECT_NEAR(scaling.weights[i], std::sqrt(squares), 1e-5);
    }
    // Columns 0 and 2, and 1 and 3, count together: their derivatives are the same.
    EXPECT_GT(scaling.matrix[2], 5 * std::abs(scaling.matrix[5])) << kernel_name(kernel);
  }
}

TEST(Metric, AFullMatrixIsPartOfTheModel) {
  const Dataset rows = turned_columns(500, 3);
  for (const ScalingMethod method : {ScalingMethod::none, ScalingMethod::quantile}) {
    TrainOptions options = with_rounds(2);
    options.metric = MetricForm::full;
    options.scaling = method;
    const Model model = train(rows, options).model;
    ASSERT_EQ(model.scaling().matrix.size(), 64U) << scaling_name(method);
    const Model again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.scaling(), model.scaling());
    EXPECT_EQ(decision_values(again, rows.features()).values,
              decision_values(model, rows.features()).values);
    EXPECT_TRUE(certify(model, rows, options).certified) << scaling_name(method);
    // The matrix as an option gives the same model, on sparse rows too.
    TrainOptions given = with_rounds(0);
    given.scaling = method;
    given.metric_matrix = model.scaling().matrix;
    EXPECT_EQ(model_to_bytes(train(rows, given).model), model_to_bytes(model));
  }
}

TEST(Metric, AFullMatrixDoesNotDependOnThreadsOrStorage) {
  const Dataset rows = turned_columns(500, 4);
  TrainOptions options = with_rounds(2);
  options.metric = MetricForm::full;
  RunControl one;
  one.threads = 1;
  RunControl three;
  three.threads = 3;
  const Model model = train(rows, options, one).model;
  EXPECT_EQ(model_to_bytes(model), model_to_bytes(train(rows, options, three).model));
  const Dataset sparse = rows.with_features(rows.features().to_sparse());
  EXPECT_EQ(decision_values(model, sparse.features()).values,
            decision_values(model, rows.features()).values);
  EXPECT_EQ(train(sparse, options).model.scaling().matrix.size(), 64U);
}

TEST(Metric, AFullMatrixIsRefusedWhereItCannotWork) {
  TrainOptions options = with_rounds(1);
  options.metric = MetricForm::full;
  std::vector<double> labels;
  for (int i = 0; i < 100; ++i) labels.push_back(i % 2);
  const Dataset wide(random_matrix(100, 301, 5), Labels::numeric(labels));
  EXPECT_THROW(train(wide, options), InvalidArgument);
  options.metric_rounds = 0;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.method = "auto";
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.metric_rounds.reset();
  EXPECT_NO_THROW(options.validate());
  TrainOptions given = with_rounds(0);
  given.metric_matrix.assign(3, 1.0F);
  EXPECT_THROW(train(two_of_twelve(100, 6), given), InvalidArgument);
  given.metric_rounds = 1;
  given.metric_matrix.assign(144, 1.0F);
  EXPECT_THROW(given.validate(), InvalidArgument);
}

TEST(Metric, KeepsTheMeanSquaredDistance) {
  const Dataset rows = two_of_twelve(600, 3);
  const auto spread = [](const Matrix& features) {
    double sum = 0;
    for (Index i = 1; i < features.rows(); ++i) {
      for (Index k = 0; k < i; ++k) {
        for (Index j = 0; j < features.cols(); ++j)
          sum += std::pow(static_cast<double>(features.at(i, j) - features.at(k, j)), 2);
      }
    }
    return sum;
  };
  const Model model = train(rows, with_rounds(2)).model;
  ASSERT_FALSE(model.scaling().weights.empty());
  const double before = spread(rows.features());
  EXPECT_NEAR(spread(model.scaling().apply(rows.features())), before, 1e-4 * before);
}

TEST(Metric, RegressionToo) {
  const Matrix features = random_matrix(900, 8, 4);
  std::vector<double> targets;
  for (Index i = 0; i < 900; ++i) targets.push_back(std::sin(2.0 * features.at(i, 5)));
  const Dataset rows(features, Labels::numeric(targets));
  TrainOptions options = with_rounds(2);
  options.task = Task::regression;
  const Model weighted = train(rows, options).model;
  options.metric_rounds = 0;
  const Model plain = train(rows, options).model;
  const std::vector<float>& weights = weighted.scaling().weights;
  ASSERT_EQ(weights.size(), 8U);
  EXPECT_EQ(std::max_element(weights.begin(), weights.end()) - weights.begin(), 5);
  EXPECT_LT(evaluate(weighted, rows).mse, evaluate(plain, rows).mse);
}

TEST(Metric, WeightsArePartOfTheModel) {
  const Dataset rows = two_of_twelve(400, 5);
  for (const ScalingMethod scaling :
       {ScalingMethod::none, ScalingMethod::minmax, ScalingMethod::quantile}) {
    TrainOptions options = with_rounds(2);
    options.scaling = scaling;
    const Model model = train(rows, options).model;
    ASSERT_FALSE(model.scaling().weights.empty());
    const Model again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.scaling(), model.scaling());
    EXPECT_EQ(decision_values(again, rows.features()).values,
              decision_values(model, rows.features()).values);
    // The certificate scales the rows by the model's scaling and finds its support vectors there.
    EXPECT_TRUE(certify(model, rows, options).certified) << scaling_name(scaling);
  }
}

TEST(Metric, EveryMethodWithAKernelTakesIt) {
  const Dataset rows = two_of_twelve(600, 6);
  for (const std::string method : {"subsample", "falk", "random-subset", "opt-soft-margin"}) {
    TrainOptions options = with_rounds(2);
    options.method = method;
    EXPECT_EQ(train(rows, options).model.scaling().weights.size(), 12U) << method;
  }
}

TEST(Metric, DoesNotDependOnThreads) {
  const Dataset rows = two_of_twelve(500, 7);
  RunControl one;
  one.threads = 1;
  RunControl three;
  three.threads = 3;
  EXPECT_EQ(model_to_bytes(train(rows, with_rounds(2), one).model),
            model_to_bytes(train(rows, with_rounds(2), three).model));
}

TEST(Metric, KeepsEqualWeightsWhereNothingIsGained) {
  // Too few rows to hold any out.
  const TrainResult few = train(two_of_twelve(60, 8), with_rounds(3));
  EXPECT_TRUE(few.model.scaling().is_identity());
  EXPECT_TRUE(few.report.remarks.at(0).starts_with("feature weights: none learned"));
  // Labels that have nothing to do with the columns, and a kernel too wide to learn them by heart.
  const Matrix features = random_matrix(300, 4, 9);
  std::vector<double> labels;
  for (Index i = 0; i < 300; ++i) labels.push_back(i % 3 == 0 ? 1 : -1);
  TrainOptions options = with_rounds(2);
  options.gamma = 1e-6;
  const TrainResult none = train(Dataset(features, Labels::numeric(labels)), options);
  EXPECT_TRUE(none.model.scaling().is_identity());
  EXPECT_TRUE(none.report.remarks.at(0).starts_with("feature weights: none, no round"));
}

TEST(Metric, GivenWeightsMultiplyTheColumns) {
  const Dataset rows = two_of_twelve(200, 10);
  TrainOptions options = with_rounds(0);
  options.gamma = 0.25;
  options.feature_weights.assign(12, 0.5F);
  const Model weighted = train(rows, options).model;
  EXPECT_EQ(weighted.scaling().method, ScalingMethod::weighted);
  EXPECT_EQ(weighted.scaling().weights, options.feature_weights);
  options.feature_weights.clear();
  options.gamma = 0.0625;  // half the distance, a quarter of its square
  const Model plain = train(rows, options).model;
  const auto a = decision_values(weighted, rows.features()).values;
  const auto b = decision_values(plain, rows.features()).values;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-2);
  options.feature_weights.assign(11, 1.0F);
  EXPECT_THROW(train(rows, options), InvalidArgument);
  options.feature_weights.assign(12, -1.0F);
  EXPECT_THROW(train(rows, options), InvalidArgument);
}

TEST(Metric, RefusesKernelsWithoutFeatures) {
  TrainOptions options = with_rounds(1);
  options.kernel = KernelType::precomputed;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

TrainingSet encoded(const Dataset& rows) {
  TrainingSet set;
  set.features = rows.features();
  set.num_classes = 2;
  set.kernel = {KernelType::rbf, 0.1};
  for (Index i = 0; i < rows.rows(); ++i) set.codes.push_back(rows.labels().number(i) > 0 ? 1 : 0);
  set.cost.assign(usize(rows.rows()), 1.0);
  return set;
}

TEST(Metric, ShortTimeMeansFewerRows) {
  const TrainingSet set = encoded(two_of_twelve(3000, 11));
  const TrainOptions options = with_rounds(1);
  const RunControl control;
  EXPECT_NEAR(static_cast<double>(learn_metric(set, {options, control, {}}, kNoLimit).held_rows),
              750, 3);
  // 0.1 s for each of two trainings.
  EXPECT_NEAR(static_cast<double>(learn_metric(set, {options, control, {}}, 0.2).held_rows), 316,
              3);
}

TEST(Metric, SparseRowsGiveTheWeightsOfDenseOnes) {
  Dataset rows = two_of_twelve(400, 13);
  TrainingSet set = encoded(rows);
  set.features = random_matrix(400, 12, 13, 0.6);  // the labels are noise then: any weights do
  const TrainOptions options = with_rounds(1);
  const RunControl control;
  const LearnedMetric dense = learn_metric(set, {options, control, {}}, kNoLimit);
  set.features = set.features.to_sparse();
  const LearnedMetric sparse = learn_metric(set, {options, control, {}}, kNoLimit);
  ASSERT_EQ(dense.rounds.rows.size(), 2U);
  ASSERT_EQ(sparse.weights.size(), dense.weights.size());
  for (std::size_t j = 0; j < dense.weights.size(); ++j)
    EXPECT_NEAR(sparse.weights[j], dense.weights[j], 0.02F * dense.weights[j]) << j;
}

TEST(Metric, ManyColumnsStayWithinTheMemoryBudget) {
  constexpr Index kColumns = 3'000'000;
  TrainingSet set = encoded(two_of_twelve(200, 14));
  set.features = set.features.to_sparse().with_cols(kColumns);
  const TrainOptions options = with_rounds(1);
  RunControl control;
  control.threads = 2;
  const std::int64_t before = peak_memory_bytes();
  EXPECT_FALSE(learn_metric(set, {options, control, {}}, kNoLimit).rounds.rows.empty());
  // 256 bytes for a packed column on each thread, and less than that for the weights.
  EXPECT_LT(peak_memory_bytes() - before, 3 * 256 * kColumns);
  control.memory_bytes = 1;  // leaves the least there is, 1 MiB
  EXPECT_THROW(learn_metric(set, {options, control, {}}, kNoLimit), ResourceError);
}

TEST(Metric, ACallerWhoCancelsGetsWhatThereIs) {
  const TrainingSet set = encoded(two_of_twelve(300, 12));
  const TrainOptions options = with_rounds(3);
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const LearnedMetric metric = learn_metric(set, {options, control, {}}, kNoLimit);
  EXPECT_TRUE(metric.weights.empty());
  EXPECT_EQ(metric.held_rows, 0);
}

}  // namespace
}  // namespace tamis::testing

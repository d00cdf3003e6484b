// Models whose standing is known: solved on paper, by the exact trainer, by LIBSVM, cut short,
// or changed afterwards.
#include "tamis/certify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "format/temporary_file.hpp"
#include "model/model_parts.hpp"
#include "support/libsvm_oracle.hpp"
#include "support/random_data.hpp"
#include "svm/expansion_builder.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

TrainOptions settings(double cost, double eps = 1e-3) {
  TrainOptions options;
  options.cost = cost;
  options.eps = eps;
  options.gamma = {Gamma::Rule::value, 0.3};
  return options;
}

/// A linear machine with these coefficients on these rows.
Model linear_model(const Matrix& rows, std::vector<double> coefficients, double offset,
                   Task task = Task::classification) {
  TrainedMachine machine{iota_rows(rows.rows()), std::move(coefficients), offset};
  const Kernel kernel{.type = KernelType::linear};
  return make_model(task, task == Task::classification ? Labels::numeric({1, -1}) : Labels(), {},
                    make_expansion(kernel, rows, std::span(&machine, 1), Decision::single),
                    "by hand");
}

// x = -1 and +3: w = 1/2, f(x) = (x - 1) / 2, alpha = 1/8.
TEST(Certify, TwoPointsOnPaper) {
  const Dataset data(Matrix::dense(2, 1, {-1, 3}), Labels::numeric({-1, 1}));
  const Certificate c =
      certify(linear_model(data.features(), {-0.125, 0.125}, -0.5), data, settings(10, 1e-12));
  EXPECT_TRUE(c.certified);
  EXPECT_DOUBLE_EQ(c.primal, 0.125);
  EXPECT_DOUBLE_EQ(c.dual, 0.125);
}

TEST(Certify, AWrongOffsetIsSeen) {
  const Dataset data(Matrix::dense(2, 1, {-1, 3}), Labels::numeric({-1, 1}));
  const Certificate c =
      certify(linear_model(data.features(), {-0.125, 0.125}, -0.4), data, settings(10));
  EXPECT_FALSE(c.certified);
  EXPECT_NEAR(c.violation, 0.1, 1e-12);
  EXPECT_EQ(c.violating_rows, 2);
  EXPECT_NEAR(c.gap, 10 * 0.1, 1e-12);  // the slack of one row
}

// Targets 0, 1, 2 at x = 0, 1, 2 with a tube of 1/2: slope 1/2, beta = -+1/4 at the ends.
TEST(Certify, TubeOnPaper) {
  const Dataset data(Matrix::dense(3, 1, {0, 1, 2}), Labels::numeric({0, 1, 2}));
  const Model model = linear_model(data.features(), {-0.25, 0, 0.25}, 0.5, Task::regression);
  TrainOptions options = settings(10, 1e-12);
  options.tube = 0.5;
  EXPECT_TRUE(certify(model, data, options).certified);
  options.tube = 0.4;
  const Certificate narrow = certify(model, data, options);
  EXPECT_FALSE(narrow.certified);
  EXPECT_NEAR(narrow.violation, 0.1, 1e-12);
}

TEST(Certify, HardMarginOnPaper) {
  const Dataset data(Matrix::dense(3, 1, {-1, 3, 4}), Labels::numeric({-1, 1, 1}));
  const double hard = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(
      certify(linear_model(data.features(), {-0.125, 0.125, 0}, -0.5), data, settings(hard, 1e-12))
          .certified);
}

TEST(Certify, TheExactTrainerIsCertified) {
  for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
    TrainOptions options = settings(5);
    options.loss = loss;
    const Dataset data = named(clouds(600, 3, 2, 1), {1, -1});
    const auto [model, report] = train(data, options);
    const Certificate c = certify(model, data, options);
    EXPECT_TRUE(c.certified) << c.violation;
    EXPECT_NEAR(c.dual, -report.objective, 1e-5 * std::abs(report.objective));
    EXPECT_NEAR(c.gap, report.gap, 1e-3 + 0.01 * report.gap);
    EXPECT_GE(c.gap, -1e-6);
    EXPECT_EQ(c.foreign_vectors, 0);
  }
}

TEST(Certify, RegressionIsCertified) {
  TrainOptions options = settings(3);
  options.task = Task::regression;
  const Dataset data = wave(500, 2, 4);
  const auto [model, report] = train(data, options);
  EXPECT_TRUE(certify(model, data, options).certified);
  options.cost = 2;
  EXPECT_FALSE(certify(model, data, options).certified);
}

TEST(Certify, ARunCutShortIsNot) {
  TrainOptions options = settings(10);
  options.max_iterations = 30;
  const Dataset data = named(clouds(600, 3, 2, 1), {1, -1});
  const auto [model, report] = train(data, options);
  ASSERT_EQ(report.stop_reason, StopReason::iteration_limit);
  const Certificate c = certify(model, data, options);
  EXPECT_FALSE(c.certified);
  EXPECT_GT(c.violating_rows, 0);
  EXPECT_NEAR(c.gap, report.gap, 1e-3 * report.gap);
}

TEST(Certify, EveryMachineOfSeveralClasses) {
  const Dataset data = named(clouds(600, 3, 4, 2), {"a", "b", "c", "d"});
  for (const Multiclass multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    TrainOptions options = settings(2);
    options.multiclass = multiclass;
    const auto [model, report] = train(data, options);
    const Certificate c = certify(model, data, options);
    EXPECT_TRUE(c.certified);
    EXPECT_EQ(c.machines.size(), multiclass == Multiclass::one_vs_one ? 6 : 4);
    EXPECT_EQ(c.machines[0].rows, multiclass == Multiclass::one_vs_one ? 300 : 600);
    EXPECT_NEAR(c.dual, -report.objective, 1e-5 * std::abs(report.objective));
    EXPECT_EQ(c.machines[1].name, multiclass == Multiclass::one_vs_one ? "a/c" : "b");
  }
}

// So many machines that the rows go by in several blocks.
TEST(Certify, ManyMachines) {
  constexpr int kClasses = 40;
  std::vector<double> names;
  for (int c = 0; c < kClasses; ++c) names.push_back(c);
  const Clouds drawn = clouds(4000, 3, kClasses, 2);
  std::vector<double> weights;
  for (int i = 0; i < 4000; ++i) weights.push_back(i % 7 == 0 ? 0 : 1);
  const Dataset data = named(drawn, names, weights);
  const Model model = train(data, settings(2)).model;
  const Certificate c = certify(model, data, settings(2));
  EXPECT_TRUE(c.certified) << c.violation;
  EXPECT_EQ(c.foreign_vectors, 0);
  EXPECT_EQ(c.machines.size(), kClasses * (kClasses - 1) / 2);
  Index rows = 0;
  for (const MachineCertificate& machine : c.machines) rows += machine.rows;
  EXPECT_EQ(rows, c.rows * (kClasses - 1));
  // The worst row is named by its number in the data, wherever its block begins.
  std::vector<double> labels;
  for (Index i = 0; i < data.rows(); ++i) labels.push_back(data.labels().number(i));
  labels[3900] = labels[3900] == 0 ? 1 : 0;
  const Dataset changed(data.features(), Labels::numeric(labels), weights);
  const Certificate other = certify(model, changed, settings(2));
  EXPECT_FALSE(other.certified);
  bool is_named = false;
  for (const MachineCertificate& machine : other.machines)
    is_named = is_named || machine.worst_row == 3900;
  EXPECT_TRUE(is_named);
}

TEST(Certify, WeightsOfRowsAndClasses) {
  const Clouds drawn = clouds(400, 2, 2, 3);
  std::vector<double> weights;
  for (int i = 0; i < 400; ++i) weights.push_back(i % 3);  // a third of the rows weigh nothing
  const Dataset data = named(drawn, {1, -1}, weights);
  TrainOptions options = settings(2);
  options.class_weights = {{"+1", 4.0}};
  const auto [model, report] = train(data, options);
  const Certificate c = certify(model, data, options);
  EXPECT_TRUE(c.certified);
  EXPECT_EQ(c.rows, report.rows);
  options.class_weights.clear();
  EXPECT_FALSE(certify(model, data, options).certified);
  options.balanced = true;
  EXPECT_TRUE(certify(train(data, options).model, data, options).certified);
}

TEST(Certify, BalancedMultipliesClassWeights) {
  const Clouds drawn = clouds(450, 2, 3, 3);
  const Dataset data = named(drawn, {1, 1, -1});  // 300 and 150 rows
  TrainOptions factors = settings(2);
  factors.class_weights = {{"1", 3.0 * (450.0 / (2 * 300))}, {"-1", 450.0 / (2 * 150)}};
  const Model model = train(data, factors).model;
  TrainOptions options = settings(2);
  options.balanced = true;
  EXPECT_FALSE(certify(model, data, options).certified);
  options.class_weights = {{"1", 3.0}};
  EXPECT_TRUE(certify(model, data, options).certified);
}

TEST(Certify, CopiesOfRowsShareTheirCoefficient) {
  const Clouds drawn = clouds(150, 2, 2, 3);
  const Dataset once = named(drawn, {1, -1}, std::vector<double>(150, 2.0));
  std::vector<Index> twice;
  for (Index i = 0; i < 150; ++i) twice.insert(twice.end(), {i, i});
  const Dataset copies = named(drawn, {1, -1}).select(twice);
  const Model model = train(once, settings(2)).model;
  EXPECT_TRUE(certify(model, once, settings(2)).certified);
  EXPECT_TRUE(certify(model, copies, settings(2)).certified);
}

TEST(Certify, ScaledAndSparseRows) {
  const Dataset dense = named(clouds(400, 4, 2, 5), {1, -1});
  const Dataset sparse = dense.with_features(dense.features().to_sparse());
  TrainOptions options = settings(4);
  options.scaling = ScalingMethod::standard;
  EXPECT_TRUE(certify(train(dense, options).model, dense, options).certified);
  EXPECT_TRUE(certify(train(dense, options).model, sparse, options).certified);
  EXPECT_TRUE(certify(train(sparse, options).model, dense, options).certified);
  options.scaling = ScalingMethod::none;
  EXPECT_TRUE(certify(train(sparse, options).model, sparse, options).certified);
}

TEST(Certify, OtherKernels) {
  const Dataset data = named(clouds(300, 3, 2, 6), {1, -1});
  const Dataset sparse = data.with_features(data.features().to_sparse());
  for (const KernelType kernel :
       {KernelType::linear, KernelType::polynomial, KernelType::laplacian}) {
    TrainOptions options = settings(0.5);
    options.kernel = kernel;
    options.coef0 = 1;
    EXPECT_TRUE(certify(train(data, options).model, data, options).certified)
        << kernel_name(kernel);
    EXPECT_TRUE(certify(train(sparse, options).model, sparse, options).certified)
        << kernel_name(kernel);
  }
}

TEST(Certify, PrecomputedKernel) {
  const Clouds drawn = clouds(120, 2, 2, 8);
  const Gram k = gram(Kernel{.type = KernelType::rbf, .gamma = 0.3}, drawn.features);
  std::vector<float> values;
  for (Index i = 0; i < 120; ++i) {
    values.push_back(static_cast<float>(i + 1));
    for (Index j = 0; j < 120; ++j) values.push_back(static_cast<float>(k.at(i, j)));
  }
  const Dataset data = named({Matrix::dense(120, 121, std::move(values)), drawn.classes}, {1, -1});
  TrainOptions options = settings(5);
  options.kernel = KernelType::precomputed;
  const Certificate c = certify(train(data, options).model, data, options);
  EXPECT_TRUE(c.certified);
  EXPECT_NEAR(c.relative_gap, 0, 1e-3);
}

TEST(Certify, ForeignSupportVectorsAreCounted) {
  const Dataset data = named(clouds(200, 2, 2, 3), {1, -1});
  const Dataset others = named(clouds(200, 2, 2, 33), {1, -1});
  const Model model = train(data, settings(2)).model;
  const Certificate c = certify(model, others, settings(2));
  EXPECT_EQ(c.foreign_vectors, model.num_support_vectors());
  EXPECT_TRUE(std::isnan(c.dual));
  EXPECT_TRUE(std::isfinite(c.primal));
  EXPECT_FALSE(c.certified);
}

TEST(Certify, TightTolerancesAreCheckedInDouble) {
  const Dataset data = named(clouds(200, 2, 2, 3), {1, -1});
  const Model model = train(data, settings(100)).model;
  const Certificate c = certify(model, data, settings(100, 1e-7));
  EXPECT_TRUE(c.in_double);
  EXPECT_FALSE(c.certified);
  const Certificate coarse = certify(model, data, settings(100));
  EXPECT_FALSE(coarse.in_double);
  EXPECT_NEAR(c.violation, coarse.violation, 1e-4);
}

TEST(Certify, ModelsOfLibsvm) {
  const Dataset data = named(clouds(300, 3, 3, 5), {1, 2, 3});
  std::vector<double> labels;
  for (Index i = 0; i < data.rows(); ++i) labels.push_back(data.labels().number(i));
  const LibsvmOracle oracle(data.features(), labels,
                            {.kernel = {.type = KernelType::rbf, .gamma = 0.3}, .cost = 4});
  const TemporaryFile file;
  oracle.save(file.path());
  const Certificate c = certify(load_model(file.path()), data, settings(4));
  EXPECT_TRUE(c.certified) << c.violation;
  EXPECT_EQ(c.machines.size(), 3);
  EXPECT_EQ(c.foreign_vectors, 0);
  EXPECT_FALSE(certify(load_model(file.path()), data, settings(4, 1e-6)).certified);
}

TEST(Certify, UnknownLabelsAndBadOptionsAreRefused) {
  const Dataset data = named(clouds(100, 2, 2, 3), {1, -1});
  const Model model = train(data, settings(2)).model;
  EXPECT_THROW(certify(model, named(clouds(100, 2, 2, 3), {1, 7}), settings(2)), DataError);
  EXPECT_THROW(certify(model, data, settings(0)), InvalidArgument);
  EXPECT_THROW(certify(model, data, settings(1, 0)), InvalidArgument);
  EXPECT_THROW(certify(Model(), data, settings(1)), InvalidArgument);
  TrainOptions unknown = settings(2);
  unknown.class_weights = {{"5", 2.0}};
  EXPECT_THROW(certify(model, data, unknown), InvalidArgument);
}

TEST(Certify, ThreadsDoNotMatter) {
  const Dataset data = named(clouds(700, 3, 2, 1), {1, -1});
  const Model model = train(data, settings(5)).model;
  RunControl control;
  control.threads = 1;
  const Certificate one = certify(model, data, settings(5), control);
  control.threads = 2;
  const Certificate two = certify(model, data, settings(5), control);
  EXPECT_EQ(one.gap, two.gap);
  EXPECT_EQ(one.violation, two.violation);
}

TEST(SupportOverlap, CountsByContent) {
  const Dataset data(Matrix::dense(4, 1, {-1, 3, 5, 3}), Labels::numeric({-1, 1, 1, 1}));
  const Model model = linear_model(data.features(), {-0.125, 0.125, 0, 0}, -0.5);
  // The fourth row is a copy of the second.
  const Model other = linear_model(data.features(), {-0.125, 0, 0.5, 0.125}, -0.5);
  const SupportOverlap overlap = support_overlap(model, other, data);
  EXPECT_EQ(overlap.own, 2);
  EXPECT_EQ(overlap.other, 3);
  EXPECT_EQ(overlap.shared, 2);
}

}  // namespace
}  // namespace tamis::testing

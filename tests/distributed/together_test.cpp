// One model, however many ranks train it: the same bytes.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>

#include "base/group.hpp"
#include "base/thread_group.hpp"
#include "distributed/same_model.hpp"
#include "support/random_data.hpp"
#include "tamis/certify.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

TrainOptions exact_with(double cost, double gamma) {
  TrainOptions options;
  options.method = "exact";
  options.cost = cost;
  options.gamma = gamma;
  return options;
}

Dataset two_clouds(Index rows, Index cols, std::uint64_t seed) {
  return named(clouds(rows, cols, 2, seed), {1, -1});
}

TEST(Together, TwoClasses) { expect_same_model(two_clouds(6000, 8, 1), exact_with(2, 0.1)); }

// Rows whose kernel values are mostly zero are kept in boxes of near rows, others on each rank.
TEST(Together, FarPairs) {
  expect_same_model(generate("checkerboard", {.rows = 9000, .seed = 3}).data, exact_with(10, 100));
}

TEST(Together, CopiesOfRows) {
  const Dataset data = two_clouds(3000, 3, 4);
  std::vector<Index> rows = iota_rows(3000);
  for (Index i = 0; i < 3000; ++i) rows.push_back(i % 40);
  expect_same_model(data.select(rows), exact_with(1, 0.5));
}

TEST(Together, FewRowsAreTrainedOnOneRank) {
  expect_same_model(two_clouds(500, 4, 5), exact_with(5, 0.3));
  expect_same_model(two_clouds(9, 2, 5), exact_with(5, 0.3), {4, 7});
}

TEST(Together, ManyClasses) {
  expect_same_model(named(clouds(3000, 6, 3, 6), {3, 1, 7}), exact_with(1, 0.2), {3});
  const Dataset data = named(clouds(6000, 6, 4, 6), {3, 1, 7, 5});
  expect_same_model(data, exact_with(1, 0.2));
  TrainOptions rest = exact_with(1, 0.2);
  rest.multiclass = Multiclass::one_vs_rest;
  expect_same_model(data, rest, {3});
}

// A pair of classes above the size of a stored matrix, others below.
TEST(Together, ClassesOfUnequalSize) {
  Clouds data = clouds(5000, 5, 2, 7);
  std::vector<double> labels;
  for (std::size_t i = 0; i < data.classes.size(); ++i)
    labels.push_back(i % 97 == 0 ? 2 : data.classes[i]);
  expect_same_model(Dataset(data.features, Labels::numeric(labels)), exact_with(1, 0.2), {2, 3});
}

TEST(Together, Regression) {
  const Clouds data = clouds(5000, 4, 2, 8);
  std::vector<double> targets;
  for (Index i = 0; i < 5000; ++i)
    targets.push_back(std::sin(static_cast<double>(data.features.at(i, 0))) +
                      0.3 * static_cast<double>(data.features.at(i, 1)));
  TrainOptions options = exact_with(1, 0.2);
  options.task = Task::regression;
  options.tube = 0.05;
  expect_same_model(Dataset(data.features, Labels::numeric(targets)), options, {2, 3});
}

TEST(Together, KernelsLossesAndSparseRows) {
  TrainOptions options = exact_with(0.5, 0.1);
  options.kernel = KernelType::linear;
  expect_same_model(two_clouds(4000, 30, 9), options, {3});
  options.kernel = KernelType::polynomial;
  options.degree = 2;
  options.coef0 = 1;
  expect_same_model(two_clouds(4000, 5, 10), options, {3});
  options.kernel = KernelType::rbf;
  options.loss = SlackLoss::l2;
  expect_same_model(two_clouds(4000, 5, 11), options, {3});
  const Clouds data = clouds(4000, 40, 2, 12);
  const Matrix noise = random_matrix(4000, 400, 13, 0.02);
  expect_same_model(Dataset(noise.to_sparse(), named(data, {0, 1}).labels()), exact_with(1, 0.05),
                    {2, 3});
}

TEST(Together, ScalingWeightsAndDefaultGamma) {
  for (const ScalingMethod scaling :
       {ScalingMethod::minmax, ScalingMethod::standard, ScalingMethod::maxabs,
        ScalingMethod::robust, ScalingMethod::quantile}) {
    Clouds data = clouds(3000, 6, 2, 14);
    std::vector<double> weights;
    for (Index i = 0; i < 3000; ++i) weights.push_back(0.25 * static_cast<double>(i % 5));
    TrainOptions options;
    options.method = "exact";
    options.scaling = scaling;
    options.balanced = true;
    expect_same_model(named(data, {1, 2}, weights), options, {3});
  }
}

TEST(Together, WordsAsLabels) {
  const Clouds data = clouds(3000, 5, 3, 15);
  const std::vector<std::string> names{"dog", "cat", "cow"};
  std::vector<std::string> labels;
  for (const int c : data.classes) labels.push_back(names[usize(c)]);
  expect_same_model(Dataset(data.features, Labels::text(labels)), exact_with(1, 0.2), {2, 3});
}

TEST(Together, TheModelPassesItsCertificate) {
  const Dataset data = two_clouds(5000, 6, 16);
  const Trained together = train_on(3, data, exact_with(2, 0.1));
  run_as_group(3, [&](Group& group) {
    RunControl control;
    control.threads = 1;
    control.group = &group;
    const Model model = model_from_bytes(together.bytes);
    TrainOptions options = exact_with(2, 0.1);
    EXPECT_TRUE(certify(model, part_of(data, group), options, control).certified);
    options.cost = 3;
    EXPECT_FALSE(certify(model, part_of(data, group), options, control).certified);
  });
  const Certificate certificate = certify(model_from_bytes(together.bytes), data, {.cost = 2});
  EXPECT_TRUE(certificate.certified);
}

// Copies of a row are on several ranks, and share the coefficient of their support vector.
TEST(Together, ACertificateIsTheSameForAnyNumberOfRanks) {
  const Clouds data = clouds(600, 4, 3, 18);
  std::vector<Index> thrice;
  for (Index i = 0; i < 1800; ++i) thrice.push_back(i * 7 % 600);
  const Dataset rows = named(data, {1, 2, 3}).select(thrice);
  TrainOptions options = exact_with(2, 0.3);
  const Model model = train(rows, options).model;
  options.eps = 1e-5;  // stricter than the training: some rows violate
  const Certificate expected = certify(model, rows, options);
  EXPECT_GT(expected.violating_rows, 0);
  for (const int ranks : {2, 3, 7}) {
    run_as_group(ranks, [&](Group& group) {
      RunControl control;
      control.threads = 1;
      control.group = &group;
      const Certificate found = certify(model, part_of(rows, group), options, control);
      EXPECT_EQ(found.rows, 1800);
      ASSERT_EQ(found.machines.size(), 3U);
      for (std::size_t m = 0; m < found.machines.size(); ++m) {
        const MachineCertificate& one = found.machines[m];
        const MachineCertificate& alone = expected.machines[m];
        EXPECT_EQ(one.rows, alone.rows);
        EXPECT_EQ(one.primal, alone.primal);
        EXPECT_EQ(one.dual, alone.dual);
        EXPECT_EQ(one.violation, alone.violation);
        EXPECT_EQ(one.worst_row, alone.worst_row);
        EXPECT_EQ(one.violating_rows, alone.violating_rows);
        EXPECT_EQ(one.mean_violation, alone.mean_violation);
        EXPECT_EQ(one.bound_breach, alone.bound_breach);
        EXPECT_EQ(one.sum_breach, alone.sum_breach);
      }
    });
  }
}

TEST(Together, AnotherMethodIsRefused) {
  for (const char* method : {"falk-l", "cglq", "auto"}) {
    TrainOptions options;
    options.method = method;
    EXPECT_THROW(train_on(2, two_clouds(100, 2, 1), options), InvalidArgument) << method;
  }
}

TEST(Together, ABadRowOfOneRankEndsAll) {
  std::vector<float> values(200, 1.0F);
  values[150] = std::numeric_limits<float>::quiet_NaN();
  std::vector<double> labels(100, 1);
  labels[3] = 2;
  const Dataset data(Matrix::dense(100, 2, values), Labels::numeric(labels));
  EXPECT_THROW(train_on(4, data, exact_with(1, 1)), DataError);
}

// All ranks stop for the same reason, and the model is usable.
TEST(Together, CancellingOneRankStopsAll) {
  const Dataset data = generate("checkerboard", {.rows = 60000, .seed = 3}).data;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::vector<StopReason> reasons;
  run_as_group(2, [&](Group& group) {
    RunControl control;
    control.threads = 1;
    control.group = &group;
    if (group.rank() == 1) control.cancel = &stop;
    if (group.rank() == 0)
      control.on_progress = [&](const Progress& progress) { stop = progress.phase == "train"; };
    const TrainResult trained = train(part_of(data, group), exact_with(10, 100), control);
    const std::lock_guard lock(mutex);
    reasons.push_back(trained.report.stop_reason);
  });
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0], reasons[1]);
  EXPECT_EQ(reasons[0], StopReason::interrupted);
}

}  // namespace
}  // namespace tamis::testing

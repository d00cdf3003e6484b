// The methods other than exact on several ranks: the same model file as on one.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "base/mix.hpp"
#include "distributed/same_model.hpp"
#include "linear/block_sums.hpp"
#include "methods/exact/linear_task.hpp"
#include "support/random_data.hpp"
#include "svm/row_order.hpp"
#include "tamis/generate.hpp"
#include "tamis/system.hpp"

namespace tamis::testing {
namespace {

TrainOptions options_of(const std::string& method, double cost, double gamma) {
  TrainOptions options;
  options.method = method;
  options.cost = cost;
  options.gamma = gamma;
  return options;
}

Dataset two_classes(Index rows, std::uint64_t seed) {
  return named(clouds(rows, 5, 2, seed), {1, -1});
}

Dataset four_classes(Index rows, std::uint64_t seed) {
  return named(clouds(rows, 6, 4, seed), {3, 1, 7, 5});
}

Dataset numbers(Index rows, std::uint64_t seed) {
  const Clouds data = clouds(rows, 4, 2, seed);
  std::vector<double> targets;
  for (Index i = 0; i < rows; ++i)
    targets.push_back(std::sin(static_cast<double>(data.features.at(i, 0))) +
                      0.3 * static_cast<double>(data.features.at(i, 1)));
  return Dataset(data.features, Labels::numeric(targets));
}

TEST(SubsampleTogether, AnyNumberOfRanks) {
  expect_same_model(two_classes(6000, 1), options_of("subsample", 2, 0.1));
  TrainOptions larger = options_of("subsample", 2, 0.1);
  larger.sift.delta = 0.6;  // above what one rank trains alone
  expect_same_model(two_classes(6000, 2), larger, {1, 3});
  expect_same_model(four_classes(2000, 3), larger, {2, 7});
  larger.task = Task::regression;
  expect_same_model(numbers(1000, 4), larger, {3});
  expect_same_model(two_classes(5, 5), options_of("subsample", 2, 0.1), {7});
}

TrainOptions small_ensemble(const std::string& method) {
  TrainOptions options = options_of(method, 2, 0.2);
  options.ensemble.members = 6;
  options.ensemble.candidates = 3;
  options.ensemble.subset_rows = 60;
  options.ensemble.score_rows = 500;
  return options;
}

TEST(RandomSubsetTogether, AnyNumberOfRanks) {
  expect_same_model(two_classes(1500, 1), small_ensemble("random-subset"), {1, 2, 3, 7});
  expect_same_model(four_classes(800, 2), small_ensemble("random-subset"), {3});
}

TEST(RandomSubsetTogether, SearchMixedKernelsProbabilitiesWeights) {
  TrainOptions options = small_ensemble("random-subset");
  options.ensemble.search_trials = 8;
  options.ensemble.parameter_draws = 2;
  options.ensemble.mixed_kernels = true;
  options.ensemble.member_value = MemberValue::probability;
  options.ensemble.subset_sampling = SubsetSampling::weights;
  options.class_weights = {{"1", 3.0}};
  expect_same_model(two_classes(1500, 3), options, {2, 7});
}

TEST(RansacTogether, AnyNumberOfRanks) {
  TrainOptions options = small_ensemble("ransac");
  options.ensemble.trials = 20;
  expect_same_model(two_classes(1500, 1), options, {1, 2, 3, 7});
  expect_same_model(four_classes(800, 2), options, {3});
}

TEST(OptMarginTogether, SoftMargin) {
  expect_same_model(two_classes(3000, 1), options_of("opt-soft-margin", 1, 0.1), {1, 2, 3, 7});
  expect_same_model(four_classes(1000, 2), options_of("opt-soft-margin", 1, 0.2), {3});
  TrainOptions squared = options_of("opt-soft-margin", 1, 0.2);
  squared.loss = SlackLoss::l2;
  squared.opt_margin.discount_outliers = true;
  expect_same_model(two_classes(1000, 2), squared, {2});
  TrainOptions rest = options_of("opt-soft-margin", 1, 0.2);
  rest.multiclass = Multiclass::one_vs_rest;
  expect_same_model(four_classes(600, 2), rest, {2});
}

TEST(OptMarginTogether, HardMarginAndTubes) {
  expect_same_model(two_classes(400, 4), options_of("opt-margin", 1, 5), {2, 7});
  TrainOptions tube = options_of("opt-soft-margin", 1, 0.2);
  tube.task = Task::regression;
  tube.tube = 0.3;
  expect_same_model(numbers(600, 5), tube, {2, 3});
  TrainOptions hopeless = options_of("opt-margin", 1, 1e-6);
  EXPECT_THROW(train_on(3, two_classes(400, 4), hopeless), DataError);
}

TEST(LeaderTogether, SameLeadersAsOneRank) {
  const Dataset data = generate("checkerboard", {.rows = 6000, .seed = 3}).data;
  TrainOptions options = options_of("leader", 10, 100);
  options.leader.leaders = 600;
  expect_same_model(data, options, {1, 2, 3, 7});
  options.leader.weights = LeaderWeights::cluster;
  expect_same_model(data, options, {3});
  TrainOptions given = options_of("leader", 1, 0.2);
  given.leader.threshold = 0.2;
  expect_same_model(four_classes(3000, 5), given, {2, 7});
}

TEST(LeaderTogether, RefinesAsOneRank) {
  const Dataset data = generate("checkerboard", {.rows = 6000, .seed = 3}).data;
  TrainOptions options = options_of("leader", 10, 100);
  options.leader.leaders = 600;
  options.leader.refine = 2;
  expect_same_model(data, options, {1, 2, 3, 7});
  options.leader.weights = LeaderWeights::cluster;
  expect_same_model(data, options, {3});
  expect_same_model(data, options_of("leader", 10, 100), {2});
  TrainOptions given = options_of("leader", 1, 0.2);
  given.leader.threshold = 0.2;
  given.leader.refine = 1;
  given.leader.boundary = LeaderBoundary::leaders;
  expect_same_model(four_classes(3000, 5), given, {2, 7});
}

// `cols` columns with 3 values each that are not zero, more in the first rows where `uneven`.
Dataset sparse_rows(Index rows, Index cols, bool uneven) {
  Random random(11, 3);
  std::vector<Index> begins = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    labels.push_back(i % 2 == 0 ? 1 : -1);
    const Index step = uneven && i < rows / 4 ? 2 : cols / 3;
    for (Index c = i % step; c < cols; c += step) {
      columns.push_back(static_cast<std::int32_t>(c));
      // Far from zero, distances from norms are rounded much more than those from differences.
      values.push_back(static_cast<float>(random.normal() + labels.back() + (uneven ? 1000 : 0)));
    }
    begins.push_back(std::ssize(columns));
  }
  return Dataset(Matrix::sparse(cols, std::move(begins), std::move(columns), std::move(values)),
                 Labels::numeric(std::move(labels)));
}

TEST(LeaderTogether, SparseRows) {
  TrainOptions options = options_of("leader", 1, 1);
  options.kernel = KernelType::linear;
  options.leader.leaders = 200;
  expect_same_model(sparse_rows(1500, 30, false), options, {2, 3});
  expect_same_model(sparse_rows(1500, 90, false), options, {2, 3});
  // The rows of the first rank would be held dense, all together would not.
  options.cost = 1e-6;
  options.leader.leaders.reset();
  options.leader.threshold = 1;
  expect_same_model(sparse_rows(1500, 90, true), options, {2, 3});
}

TEST(LinearTogether, AnyNumberOfRanks) {
  expect_same_model(two_classes(3000, 1), options_of("linear", 1, 1), {1, 2, 3, 7});
  expect_same_model(four_classes(900, 2), options_of("linear", 1, 1), {3});
  TrainOptions options = options_of("linear", 1, 1);
  options.task = Task::regression;
  expect_same_model(numbers(900, 2), options, {2});
}

// Large enough for several blocks of rows: Newton's method, on all ranks together.
TEST(LinearTogether, LargeProblems) {
  const Dataset rows = generate("gaussians", {.rows = 30'000, .features = 10}).data;
  for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
    for (const Bias::Rule rule : {Bias::Rule::none, Bias::Rule::free}) {
      TrainOptions options = options_of("linear", 1, 1);
      options.loss = loss;
      options.bias.rule = rule;
      expect_same_model(rows, options, {2, 3});
    }
  }
  TrainOptions options = options_of("linear", 1, 1);
  options.task = Task::regression;
  expect_same_model(
      generate("gaussians", {.rows = 20'000, .features = 10, .regression = true}).data, options,
      {3});
  // Three classes: one pair is small, and trained by one rank.
  std::vector<double> classes;
  for (Index i = 0; i < rows.rows(); ++i)
    classes.push_back(i % 10 == 0 ? 2 : i % 10 == 1 ? 3 : rows.labels().number(i) > 0 ? 1 : 2);
  expect_same_model(Dataset(rows.features(), Labels::numeric(classes)), options_of("linear", 1, 1),
                    {2, 3});
}

// Copies of a row are one point of a large problem, with their cost: the model is that of weights.
TEST(LinearTogether, CopiesOfRowsAndWeights) {
  const Dataset rows = generate("gaussians", {.rows = 15'000, .features = 10}).data;
  std::vector<Index> twice;
  for (Index i = 0; i < rows.rows(); ++i) twice.insert(twice.end(), {i, i});
  TrainOptions options = options_of("linear", 1, 1);
  expect_same_model(rows.select(twice), options, {3});
  options.cost = 2;
  const TrainResult weighted = train(rows, options);
  options.cost = 1;
  const TrainResult copied = train(rows.select(twice), options);
  EXPECT_NEAR(copied.report.objective, weighted.report.objective,
              1e-4 * std::abs(weighted.report.objective));
}

// Many columns: coordinate descent, rank after rank, and Newton's method where it takes too long.
TEST(LinearTogether, ManyColumns) {
  const Dataset rows = generate("words", {.rows = 5000, .features = 2000}).data;
  for (const double cost : {1.0, 1000.0}) {
    for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
      TrainOptions options = options_of("linear", cost, 1);
      options.eps = 0.01;
      options.loss = loss;
      expect_same_model(rows, options, {2, 3});
    }
  }
}

TEST(LinearTogether, NoRankHasAllRows) {
  const Dataset rows = generate("words", {.rows = 20'000, .features = 2000}).data;
  const Index blocks = linear::num_blocks(rows.features().num_stored(), rows.cols());
  EXPECT_GE(blocks, 8);
  std::vector<Index> of_rank(3, 0);
  for (const std::uint64_t hash : hash_rows(rows.features()))
    ++of_rank[usize(linear::owner_of_block(block_of_row(mix(hash), blocks), blocks, 3))];
  for (const Index count : of_rank) {
    EXPECT_GT(count, 4000);
    EXPECT_LT(count, 9000);
  }
}

TEST(LinearTogether, StoppingEarly) {
  const Dataset rows = generate("words", {.rows = 20'000, .features = 2000}).data;
  TrainOptions options = options_of("linear", 1000, 1);
  options.eps = 1e-9;
  options.max_seconds = 0.2;
  const Trained limited = train_on(3, rows, options);
  EXPECT_EQ(limited.report.stop_reason, StopReason::time_limit);
  options.max_seconds = 0;
  options.max_iterations = 3;
  const Trained few = train_on(3, rows, options);
  EXPECT_EQ(few.report.stop_reason, StopReason::iteration_limit);
  EXPECT_EQ(few.report.iterations, 3);
}

// The time ends, or the caller does, while the first rank waits for the others.
TEST(MethodsTogether, StoppingEarly) {
  const Dataset data = two_classes(20'000, 7);
  for (const std::string method : {"random-subset", "ransac", "opt-soft-margin", "leader"}) {
    TrainOptions options = options_of(method, 10, 2);
    options.max_seconds = 0.3;
    options.ensemble.members = 3000;
    try {
      const Trained trained = train_on(3, data, options);
      EXPECT_FALSE(trained.bytes.empty());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("before anything was trained"), std::string::npos)
          << method << ": " << error.what();
    }
  }
}

// Nobody calls a model complete of which another rank left out a part. A rank that was done before
// it looked left out nothing.
TEST(MethodsTogether, AStopThatOnlyAnotherRankSaw) {
  const Dataset data = two_classes(2000, 7);
  for (const std::string method : {"random-subset", "ransac", "leader"}) {
    TrainOptions options = small_ensemble(method);
    options.ensemble.trials = 20;
    for (const double seconds : {0.0, 1000.0}) {
      options.max_seconds = seconds;
      const std::string complete = train_on(3, data, options).bytes;
      run_as_group(3, [&](Group& group) {
        const std::atomic<bool> cancel(group.rank() == 1);
        RunControl control;
        control.threads = 1;
        control.group = &group;
        control.cancel = &cancel;
        const TrainResult trained = train(part_of(data, group), options, control);
        if (trained.report.stop_reason == StopReason::converged)
          EXPECT_EQ(model_to_bytes(trained.model), complete);
        else
          EXPECT_EQ(trained.report.stop_reason, StopReason::interrupted)
              << method << ", rank " << group.rank() << ", limit " << seconds;
      });
    }
  }
}

}  // namespace
}  // namespace tamis::testing

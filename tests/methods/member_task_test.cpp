// Members trained elsewhere: the same model, whatever becomes of the workers.
#include "methods/ensemble/member_task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>

#include "tamis/error.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/tasks.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

// Runs tasks here, in reverse order and twice; gives up every `skip`-th one.
class Workers : public TaskGroup {
 public:
  explicit Workers(std::size_t skip = 0) : skip_(skip) {}
  std::vector<std::string> run(const std::vector<std::string>& tasks,
                               const std::shared_ptr<const std::string>& shared,
                               const RunControl& /*control*/) override {
    std::vector<std::string> results(tasks.size());
    for (std::size_t k = tasks.size(); k-- > 0;) {
      if (skip_ > 0 && k % skip_ == 0) continue;
      results[k] = run_task(tasks[k], *shared);
      EXPECT_EQ(results[k], run_task(tasks[k], *shared));
      ++ran_;
    }
    return results;
  }
  int ran() const { return ran_; }

 private:
  std::size_t skip_;
  std::atomic<int> ran_ = 0;
};

Dataset rows_of(const std::string& name, Index rows) {
  GenerateOptions options;
  options.rows = rows;
  return generate(name, options).data;
}

TrainOptions small_ensemble() {
  TrainOptions options;
  options.method = "random-subset";
  options.gamma = {Gamma::Rule::value, 0.5};
  options.cost = 4;
  options.ensemble.members = 20;
  options.ensemble.subset_rows = 40;
  return options;
}

void expect_same(const Dataset& data, const TrainOptions& options, std::size_t skip = 0) {
  Workers workers(skip);
  RunControl control;
  control.group = &workers;
  const std::string expected = model_to_bytes(train(data, options, {}).model);
  EXPECT_TRUE(model_to_bytes(train(data, options, control).model) == expected);
  EXPECT_GT(workers.ran(), 0);
}

TEST(MemberTask, TheModelIsTheSame) {
  const Dataset data = rows_of("ten-gaussians", 800);
  TrainOptions options = small_ensemble();
  expect_same(data, options);
  expect_same(data.with_features(data.features().to_sparse()), options);
  options.ensemble.candidates = 3;
  options.ensemble.member_value = MemberValue::probability;
  options.loss = SlackLoss::l2;
  expect_same(data, options);
  options = small_ensemble();
  options.ensemble.mixed_kernels = true;  // of which the polynomial one is slow on these rows
  options.ensemble.members = 4;
  options.ensemble.search_trials = 4;
  expect_same(data, options);
}

TEST(MemberTask, WhatNobodyTrainedIsTrainedHere) {
  expect_same(rows_of("ten-gaussians", 800), small_ensemble(), 2);
}

TEST(MemberTask, OtherMethodsTrainAsWithoutWorkers) {
  const Dataset data = rows_of("checkerboard", 300);
  Workers workers;
  RunControl control;
  control.group = &workers;
  TrainOptions options;
  options.method = "exact";
  EXPECT_TRUE(model_to_bytes(train(data, options, control).model) ==
              model_to_bytes(train(data, options, {}).model));
  EXPECT_EQ(workers.ran(), 0);
}

TEST(MemberTask, DamagedBytesAreRefused) {
  MemberTask task;
  task.features = Matrix::dense(3, 2, {0, 1, 2, 3, 4, 5});
  task.cost = {1, 1, 1};
  task.targets = {1, -1, 1};
  const std::string bytes = member_task_to_bytes(task);
  const std::string scored = rows_to_bytes(task.features);
  const std::string result = run_task(bytes, scored);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(run_task(bytes.substr(0, size), scored), Error) << size;
  for (std::size_t size = 0; size < scored.size(); ++size)
    EXPECT_THROW(run_task(bytes, scored.substr(0, size)), Error) << size;
  for (std::size_t size = 0; size < result.size(); ++size)
    EXPECT_THROW(member_result_from_bytes(result.substr(0, size), 3, 3), DataError) << size;
  EXPECT_THROW(run_task(bytes, rows_to_bytes(Matrix::dense(1, 3, {1, 2, 3}))), DataError);
}

TEST(MemberTask, AnswersThatDoNotGoWithTheTaskAreRefused) {
  MemberTask task;
  task.features = Matrix::dense(3, 2, {0, 1, 2, 3, 4, 5});
  task.cost = {1, 1, 1};
  task.targets = {1, -1, 1};
  const std::string scored = rows_to_bytes(task.features);
  const std::string result = run_task(member_task_to_bytes(task), scored);
  EXPECT_EQ(member_result_from_bytes(result, 3, 3).values.size(), 3U);
  EXPECT_THROW(member_result_from_bytes(result, 2, 3), DataError);  // support vectors are 0, 1, 2
  EXPECT_THROW(member_result_from_bytes(result, 3, 2), DataError);
}

TEST(MemberTask, TasksWithWrongValuesAreRefused) {
  const auto refused = [](const std::function<void(MemberTask&)>& damage) {
    MemberTask task;
    task.features = Matrix::dense(3, 2, {0, 1, 2, 3, 4, 5});
    task.cost = {1, 1, 1};
    task.targets = {1, -1, 1};
    damage(task);
    EXPECT_THROW(run_task(member_task_to_bytes(task), rows_to_bytes(task.features)), DataError);
  };
  refused([](MemberTask& task) { task.cost[1] = -1; });
  refused([](MemberTask& task) { task.cost[1] = std::numeric_limits<double>::quiet_NaN(); });
  refused([](MemberTask& task) { task.targets[2] = 0.5; });
  refused([](MemberTask& task) { task.settings.limits.eps = 0; });
  refused([](MemberTask& task) { task.settings.loss = static_cast<SlackLoss>(9); });
  refused([](MemberTask& task) { task.settings.kernel.type = static_cast<KernelType>(77); });
  refused([](MemberTask& task) { task.settings.kernel.type = KernelType::precomputed; });
  refused([](MemberTask& task) { task.settings.kernel.gamma = -1; });
}

}  // namespace
}  // namespace tamis::testing

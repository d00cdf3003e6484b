// Cells trained elsewhere: the same model, whatever becomes of the workers.
#include "training/cell_task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <stdexcept>

#include "tamis/error.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/tasks.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

// Runs tasks here, the last one first; loses every `lose`-th one.
class Workers : public TaskGroup {
 public:
  explicit Workers(Index lose = 0) : lose_(lose) {}
  std::vector<std::string> run(const std::vector<std::string>& tasks,
                               const std::shared_ptr<const std::string>& shared,
                               const RunControl& /*control*/) override {
    std::vector<std::string> results;
    for (const std::string& task : tasks) {
      ++asked_;
      if (lose_ > 0 && asked_ % lose_ == 0) {
        results.emplace_back();
        continue;
      }
      results.push_back(run_task(task, *shared));
      EXPECT_EQ(results.back(), run_task(task, *shared));
      ++ran_;
    }
    return results;
  }
  Index ran() const { return ran_; }
  Index asked() const { return asked_; }

 private:
  Index lose_;
  std::atomic<Index> asked_ = 0;
  std::atomic<Index> ran_ = 0;
};

// The tasks in reverse order, all made before any is run.
class LastFirst : public Workers {
 public:
  void run_each(Index count, const std::function<std::string(Index)>& make,
                const std::function<void(Index, std::string)>& take,
                const std::shared_ptr<const std::string>& shared,
                const RunControl& control) override {
    std::vector<std::string> tasks;
    for (Index i = 0; i < count; ++i) tasks.push_back(make(i));
    for (Index i = count; i-- > 0;)
      take(i, run({tasks[static_cast<std::size_t>(i)]}, shared, control)[0]);
  }
  Index places() const override { return 7; }
};

Dataset rows_of(const std::string& name, Index rows) {
  GenerateOptions options;
  options.rows = rows;
  return generate(name, options).data;
}

TrainOptions cell_options(const std::string& method = "falk-c") {
  TrainOptions options;
  options.method = method;
  options.gamma = {Gamma::Rule::value, 20.1};
  options.cost = 0.1 + 0.2;
  options.local.k = 120;
  options.local.cell_rows = 700;
  return options;
}

void expect_same(const Dataset& data, const TrainOptions& options, Workers&& workers = Workers()) {
  RunControl control;
  control.group = &workers;
  const std::string expected = model_to_bytes(train(data, options, {}).model);
  EXPECT_TRUE(model_to_bytes(train(data, options, control).model) == expected);
  EXPECT_GT(workers.ran(), 1);
}

TEST(CellTask, TheModelIsTheSame) {
  const Dataset data = rows_of("checkerboard", 3000);
  expect_same(data, cell_options("falk"));
  expect_same(data, cell_options("falk-c"));
  expect_same(data, cell_options("falk"), LastFirst());
  TrainOptions options = cell_options();
  options.scaling = ScalingMethod::standard;
  options.loss = SlackLoss::l2;
  options.class_weights = {{"1", 2.5}};
  expect_same(data.with_features(data.features().to_sparse()), options);
}

TEST(CellTask, OfARegressionToo) {
  const Dataset rows = rows_of("checkerboard", 3000);
  std::vector<double> targets;
  for (Index i = 0; i < rows.rows(); ++i)
    targets.push_back(static_cast<double>(rows.features().at(i, 0)));
  const Dataset data(rows.features(), Labels::numeric(targets));
  TrainOptions options = cell_options();
  options.task = Task::regression;
  options.tube = 0.01;
  expect_same(data, options);
}

TEST(CellTask, WhatNobodyTrainedIsTrainedHere) {
  const Dataset data = rows_of("checkerboard", 3000);
  expect_same(data, cell_options(), Workers(2));
}

TEST(CellTask, FewRowsAreTrainedHere) {
  const Dataset data = rows_of("checkerboard", 600);
  Workers workers;
  RunControl control;
  control.group = &workers;
  EXPECT_TRUE(model_to_bytes(train(data, cell_options(), control).model) ==
              model_to_bytes(train(data, cell_options(), {}).model));
  EXPECT_EQ(workers.asked(), 0);
}

TEST(CellTask, ALimitOfTimeGivesAModel) {
  const Dataset data = rows_of("checkerboard", 6000);
  TrainOptions options = cell_options("falk");
  options.max_seconds = 0.02;
  Workers workers;
  RunControl control;
  control.group = &workers;
  const TrainResult result = train(data, options, control);
  EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
  EXPECT_EQ(result.model.classes().size(), 2);
}

TEST(CellTask, AnErrorOfAWorkerIsAnError) {
  class Failing : public Workers {
    std::vector<std::string> run(const std::vector<std::string>& /*tasks*/,
                                 const std::shared_ptr<const std::string>& /*shared*/,
                                 const RunControl& /*control*/) override {
      throw std::runtime_error("no worker is left");
    }
  } failing;
  RunControl control;
  control.group = &failing;
  EXPECT_THROW(train(rows_of("checkerboard", 3000), cell_options(), control), std::runtime_error);
}

CellTask small_task() {
  CellTask task;
  task.set.features = Matrix::dense(4, 2, {0, 1, 2, 3, 4, 5, 6, 7});
  task.set.codes = {0, 1, 0, 1};
  task.set.cost = {1, 1, 1, 1};
  task.set.num_classes = 2;
  task.own = 3;
  task.halo_positions = {17};
  task.box = CellBox{{{1, 0, 6}}, 2.5};
  return task;
}

std::string shared_bytes() {
  TrainOptions options = cell_options();
  options.local.k = 4;
  return cell_options_to_bytes(options, Kernel{KernelType::rbf, 1.0, 0, 3}, 2);
}

TEST(CellTask, DamagedBytesAreRefused) {
  const std::string bytes = cell_task_to_bytes(small_task());
  const std::string shared = shared_bytes();
  const std::string result = run_task(bytes, shared);
  const CellShape shape{.rows = 4, .all_rows = 20, .cols = 2, .num_classes = 2};
  EXPECT_GT(cell_from_answer(result, shape).parts.rows.rows(), 0);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(run_task(bytes.substr(0, size), shared), Error) << size;
  for (std::size_t size = 0; size < shared.size(); ++size)
    EXPECT_THROW(run_task(bytes, shared.substr(0, size)), Error) << size;
  for (std::size_t size = 0; size < result.size(); ++size)
    EXPECT_THROW(cell_from_answer(result.substr(0, size), shape), Error) << size;
}

TEST(CellTask, AnswersThatDoNotGoWithTheTaskAreRefused) {
  const std::string result = run_task(cell_task_to_bytes(small_task()), shared_bytes());
  const CellShape shape{.rows = 4, .all_rows = 20, .cols = 2, .num_classes = 2};
  const auto refused = [&](const std::function<void(CellShape&)>& change) {
    CellShape other = shape;
    change(other);
    EXPECT_THROW(cell_from_answer(result, other), DataError);
  };
  refused([](CellShape& s) { s.rows = 1; });
  refused([](CellShape& s) { s.all_rows = 17; });  // the halo's row is number 17
  refused([](CellShape& s) { s.cols = 3; });
  refused([](CellShape& s) { s.num_classes = 3; });
  refused([](CellShape& s) { s.is_sparse = true; });
}

TEST(CellTask, TasksWithWrongValuesAreRefused) {
  const auto refused = [](const std::function<void(CellTask&)>& damage) {
    CellTask task = small_task();
    damage(task);
    EXPECT_THROW(run_task(cell_task_to_bytes(task), shared_bytes()), DataError);
  };
  refused([](CellTask& task) { task.set.codes[1] = 2; });
  refused([](CellTask& task) { task.set.codes.pop_back(); });
  refused([](CellTask& task) { task.set.cost[1] = -1; });
  refused([](CellTask& task) { task.set.cost[0] = std::numeric_limits<double>::quiet_NaN(); });
  refused([](CellTask& task) { task.set.targets = {1, 2, 3, 4}; });
  refused([](CellTask& task) { task.own = 4; });
  refused([](CellTask& task) { task.seconds = 0; });
  refused([](CellTask& task) { task.box->faces[0].column = 2; });
  EXPECT_THROW(run_task(cell_task_to_bytes(small_task()),
                        cell_options_to_bytes(cell_options("exact"), Kernel(), 2)),
               DataError);
  EXPECT_THROW(run_task(cell_task_to_bytes(small_task()),
                        cell_options_to_bytes(cell_options(), Kernel{KernelType::precomputed}, 2)),
               DataError);
}

}  // namespace
}  // namespace tamis::testing

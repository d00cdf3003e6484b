// Every method can be stopped, and is then still of use.
#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "contract/fixtures.hpp"
#include "support/patience.hpp"

namespace tamis::testing {
namespace {

// Clouds on top of each other: hopeless to separate, so that training takes long.
Dataset hopeless(Index rows, int classes) {
  std::vector<double> names;
  for (int c = 0; c < classes; ++c) names.push_back(c + 1);
  return named(clouds(rows, 20, classes, 1, 0.1), names);
}

void expect_usable(const TrainResult& result, const Dataset& data) {
  ASSERT_FALSE(result.model.empty());
  const Matrix some = data.features().select(iota_rows(50));
  expect_finite(decision_values(result.model, some));
  EXPECT_EQ(predict(result.model, some).size(), 50);
  EXPECT_FALSE(saved_bytes(result.model).empty());
}

class LimitContract : public MethodContract {};

TEST_P(LimitContract, CancelledBeforeItBegins) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  for (const int classes : {2, 4}) {
    const Dataset data = hopeless(400, classes);
    const Stopwatch watch;
    const TrainResult result = train(data, options(), control);
    EXPECT_LT(watch.seconds(), kPatience);
    EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
    EXPECT_FALSE(result.report.warnings.empty()) << "the report says that it was stopped";
    expect_usable(result, data);
  }
}

TEST_P(LimitContract, CancelledBeforeItBeginsToScale) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  TrainOptions o = options();
  o.scaling = ScalingMethod::minmax;
  const Dataset data = hopeless(400, 2);
  try {
    const TrainResult result = train(data, o, control);
    EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
    expect_usable(result, data);
  } catch (const Cancelled&) {
    // Nothing was learnt yet: there is no machine to return.
  }
}

class LimitContractSizes : public MethodContract {
 protected:
  // Rows, classes, cost: the stored matrix, blocks, several machines.
  void cancel_during(Index rows, int classes, double cost, KernelType kernel) {
    SCOPED_TRACE(std::to_string(rows) + " rows");
    const Dataset data = hopeless(rows, classes);
    TrainOptions o = options();
    o.kernel = kernel;
    o.cost = cost;
    o.eps = 1e-9;
    std::atomic<bool> cancel = false;
    RunControl control;
    control.cancel = &cancel;
    Stopwatch since_flag;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      since_flag.restart();
      cancel = true;
    });
    TrainResult result;
    const bool is_refused = is_refused_as_inseparable([&] { result = train(data, o, control); });
    const double seconds = since_flag.seconds();
    other.join();
    if (is_refused) return;  // found out before it was cancelled
    EXPECT_LT(seconds, kPatience) << "the promise is 0.1 s on a machine with nothing else to do";
    if (is_exact()) {
      EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
    }
    expect_usable(result, data);
  }
};

TEST_P(LimitContractSizes, CancelledOnAStoredMatrix) {
  cancel_during(2000, 2, 1e6, KernelType::linear);
}
TEST_P(LimitContractSizes, CancelledBetweenBlocks) {
  cancel_during(12000, 2, 1e3, KernelType::rbf);
}
TEST_P(LimitContractSizes, CancelledWithSeveralMachines) {
  cancel_during(6000, 4, 1e4, KernelType::linear);
}

TEST_P(LimitContract, TimeLimitIsKept) {
  for (const int classes : {2, 4}) {
    const Dataset data = hopeless(8000, classes);
    TrainOptions o = options();
    o.cost = 1000;
    o.eps = 1e-9;
    o.max_seconds = 0.2;
    const Stopwatch watch;
    const TrainResult result = train(data, o);
    EXPECT_LT(watch.seconds(), 1.2 * kPatience);
    if (is_exact()) {
      EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
    }
    expect_usable(result, data);
  }
}

TEST_P(LimitContract, IterationLimitIsKept) {
  const Dataset data = hopeless(500, 2);
  TrainOptions o = options();
  o.max_iterations = 20;
  const TrainResult result = train(data, o);
  if (is_exact()) {
    EXPECT_EQ(result.report.stop_reason, StopReason::iteration_limit);
    EXPECT_LE(result.report.iterations, 20);
    EXPECT_GT(result.report.violation, o.eps);
  }
  expect_usable(result, data);
}

TEST_P(LimitContract, TheReportAddsUp) {
  const Dataset data = hopeless(300, 2);
  const TrainResult result = train(data, options());
  const TrainReport& report = result.report;
  EXPECT_EQ(report.method, GetParam());
  EXPECT_EQ(report.rows, 300);
  EXPECT_EQ(report.features, 20);
  EXPECT_EQ(report.classes, 2);
  EXPECT_EQ(report.stop_reason, StopReason::converged);
  EXPECT_EQ(report.support_vectors, result.model.num_support_vectors());
  EXPECT_GT(report.train_seconds, 0);
  EXPECT_GT(report.peak_memory_bytes, 0);
  EXPECT_GE(report.gap, 0);
  double phases = 0;
  for (const auto& [name, seconds] : report.phase_seconds) phases += seconds;
  EXPECT_LE(phases, report.train_seconds * 1.01 + 1e-3);
  if (is_exact()) {
    EXPECT_LE(report.violation, 1e-3);
    EXPECT_LT(report.objective, 0);
    EXPECT_LE(report.bounded_support_vectors, report.support_vectors);
    EXPECT_GT(report.kernel_evaluations, 0);
  }
}

// A small budget costs time, not the answer.
TEST_P(LimitContract, MemoryBudgetIsAPromise) {
  const Dataset data = hopeless(500, 2);
  RunControl control;
  control.memory_bytes = 1 << 20;
  try {
    train(data, options(), control);
    ADD_FAILURE() << "a program cannot fit into a megabyte";
  } catch (const ResourceError& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, LimitContract, ::testing::ValuesIn(all_methods()),
                         method_test_name);
INSTANTIATE_TEST_SUITE_P(Methods, LimitContractSizes, ::testing::ValuesIn(all_methods()),
                         method_test_name);

}  // namespace
}  // namespace tamis::testing

// Every method can be stopped, and is then still of use.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "base/memory.hpp"
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

// Cancels when the work reports progress, or after a while when it does not. Work that is done
// before either has nothing to cancel.
class CancelOnceUnderWay {
 public:
  CancelOnceUnderWay() {
    control_.cancel = &cancel_;
    control_.on_progress = [this](const Progress&) { tell(&reported_); };
    watcher_ = std::thread([this] {
      std::unique_lock<std::mutex> lock(mutex_);
      event_.wait_for(lock, std::chrono::milliseconds(300), [&] { return reported_ || done_; });
      if (done_) return;
      since_.restart();
      cancel_ = true;
    });
  }
  ~CancelOnceUnderWay() { finish(); }

  const RunControl& control() const { return control_; }
  /// Whether the work was cancelled before this call.
  bool finish() {
    seconds_ = since_.seconds();
    tell(&done_);
    if (watcher_.joinable()) watcher_.join();
    return cancel_;
  }
  double seconds_since() const { return seconds_; }

 private:
  void tell(bool* what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *what = true;
    event_.notify_one();
  }

  std::atomic<bool> cancel_ = false;
  RunControl control_;
  Stopwatch since_;
  double seconds_ = 0;
  std::mutex mutex_;
  std::condition_variable event_;
  bool reported_ = false;
  bool done_ = false;
  std::thread watcher_;
};

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
    CancelOnceUnderWay under_way;
    TrainResult result;
    const bool is_refused =
        is_refused_as_inseparable([&] { result = train(data, o, under_way.control()); });
    const bool was_cancelled = under_way.finish();
    const double seconds = under_way.seconds_since();
    if (is_refused) return;  // found out before it was cancelled
    if (was_cancelled) {
      EXPECT_LT(seconds, kPatience) << "the promise is 0.1 s on a machine with nothing else to do";
      // Cancelled at its last moment, training may be done before it looks.
      EXPECT_TRUE(result.report.stop_reason == StopReason::interrupted || !is_optimum() ||
                  seconds < 0.05)
          << seconds << " s after it was cancelled";
    } else {
      EXPECT_NE(result.report.stop_reason, StopReason::interrupted);
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
    const StopReason stop = result.report.stop_reason;
    // What was done at the last moment still has to be put together.
    EXPECT_TRUE(stop == StopReason::time_limit || watch.seconds() < o.max_seconds + 0.2 * kPatience)
        << stop_reason_name(stop);
    expect_usable(result, data);
  }
}

TEST_P(LimitContract, IterationLimitIsKept) {
  const Dataset data = hopeless(500, 2);
  TrainOptions o = options();
  o.max_iterations = 20;
  const TrainResult result = train(data, o);
  if (is_optimum()) {
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
  if (is_optimum()) {
    EXPECT_LE(report.violation, 1e-3);
    EXPECT_LT(report.objective, 0);
    EXPECT_EQ(report.kernel_evaluations > 0, method().info.uses_kernel);
  }
  if (is_optimum() && method().info.uses_kernel) {
    EXPECT_LE(report.bounded_support_vectors, report.support_vectors);
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

// 404,550 pairs of classes leave behind more than the budget holds, whatever each of them is.
TEST_P(LimitContract, VeryManyBinarySvmsAreInTheBudget) {
  if (method().info.kind == MethodKind::local) return;  // pairs of a neighborhood's classes alone
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (64 << 20);
  EXPECT_THROW(train(hopeless(1800, 900), options(), control), ResourceError);
}

// Neighborhoods of many classes have many pairs each.
TEST_P(LimitContract, LocalSvmsOfManyClassesAreInTheBudget) {
  const std::string_view name = method().info.name;
  if (name != "falk" && name != "falk-c") return;  // knn-svm trains nothing, falk-l is falk
  const Dataset data = hopeless(4000, 2000);
  TrainOptions wide = options();
  wide.local.k = 700;
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (48 << 20);
  EXPECT_THROW(train(data, wide, control), ResourceError);
}

TEST_P(LimitContract, RowsWithoutColumnsAreRefused) {
  const Dataset data(Matrix::dense(4, 0, {}), Labels::numeric({1, -1, 1, -1}));
  EXPECT_THROW(train(data, options()), DataError);
}

INSTANTIATE_TEST_SUITE_P(Methods, LimitContract, ::testing::ValuesIn(all_methods()),
                         method_test_name);
INSTANTIATE_TEST_SUITE_P(Methods, LimitContractSizes, ::testing::ValuesIn(all_methods()),
                         method_test_name);

}  // namespace
}  // namespace tamis::testing

// The engine under a time limit, with methods that make their own troubles.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "methods/common/kernel_machine.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "training/run_method.hpp"

namespace tamis::testing {
namespace {

// Looks at nothing but the flag, as code does that knows no limit of time.
void wait_for_cancel(const TrainContext& context) {
  while (!context.control.cancelled()) std::this_thread::yield();
}

MethodResult throws_when_cancelled(const TrainingSet&, const TrainContext& context) {
  wait_for_cancel(context);
  throw Cancelled();
}

MethodResult returns_a_constant(const TrainingSet& data, const TrainContext& context) {
  wait_for_cancel(context);
  return expansion_result(data, train_kernel_machine(data, context));
}

MethodResult keeps_a_machine(const TrainingSet& data, const TrainContext& context) {
  TrainOptions options = context.options;
  options.max_seconds = 0;
  const RunControl control;
  MethodResult result =
      expansion_result(data, train_kernel_machine(data, TrainContext{options, control, {}}));
  wait_for_cancel(context);
  result.report.stop_reason = StopReason::interrupted;
  return result;
}

Method slow_method(MethodResult (*train)(const TrainingSet&, const TrainContext&)) {
  return {.info = {.name = "slow", .summary = "waits until it is cancelled"}, .train = train};
}

const Dataset& three_clouds() {
  static const Dataset data = named(clouds(2000, 3, 3, 1, 6), {1.0, 2.0, 3.0});
  return data;
}

TrainResult train_for(double seconds, const Method& method) {
  TrainOptions options;
  options.max_seconds = seconds;
  return run_method(method, three_clouds(), options, {});
}

double accuracy(const Model& model) {
  const Labels labels = predict(model, three_clouds().features());
  double right = 0;
  for (Index i = 0; i < labels.size(); ++i)
    right += labels.name(i) == three_clouds().labels().name(i) ? 1 : 0;
  return right / static_cast<double>(labels.size());
}

TEST(LimitedTraining, CancelsAMethodThatKnowsNoTime) {
  for (auto* train : {throws_when_cancelled, returns_a_constant}) {
    const TrainResult result = train_for(1e-3, slow_method(train));
    EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
    EXPECT_GT(accuracy(result.model), 0.9) << "a sample is better than a constant";
    ASSERT_FALSE(result.report.details.empty());
    EXPECT_EQ(result.report.details.back().first, "rows_used");
  }
}

TEST(LimitedTraining, KeepsWhatWasTrained) {
  const TrainResult result = train_for(1e-3, slow_method(keeps_a_machine));
  EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
  for (const auto& [name, value] : result.report.details) EXPECT_NE(name, "rows_used");
}

TEST(LimitedTraining, ACallerWhoCancelsGetsWhatThereIs) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const TrainResult result =
      run_method(slow_method(returns_a_constant), three_clouds(), {}, control);
  EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(result.model.is_constant());
  EXPECT_THROW(run_method(slow_method(throws_when_cancelled), three_clouds(), {}, control),
               Cancelled);
}

}  // namespace
}  // namespace tamis::testing

#include "selection/metric_choice.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"
#include "training/metric.hpp"
#include "training/prepare.hpp"

namespace tamis {
namespace {

constexpr int kRounds = 3;
// Fewer errors by two, and by the root of their number, which is about its deviation: of several
// rounds, the best is better by chance too (susy-30k: 20.0 % errors, 20.9 % with half the root).
constexpr double kFewerErrors = 2;
constexpr double kErrorMargin = 1;
constexpr double kSquaresMargin = 0.02;  // lower squared error of a regression, relative

bool pays(const LearnedMetric& metric, bool is_regression) {
  if (metric.best_round == 0) return false;
  const double gain = metric.plain_error - metric.best_error;
  if (is_regression) return gain > kSquaresMargin * metric.plain_error;
  const auto rows = static_cast<double>(metric.held_rows);
  return gain * rows > kFewerErrors + kErrorMargin * std::sqrt(metric.plain_error * rows);
}

}  // namespace

bool may_learn_metric(const TrainOptions& asked) {
  const bool has_features = asked.kernel_or_default() != KernelType::precomputed &&
                            asked.kernel_or_default() != KernelType::linear;
  return has_features && asked.feature_weights.empty() && asked.metric_matrix.empty() &&
         asked.metric_rounds.value_or(1) > 0;
}

MetricChoice choose_metric(const Dataset& rows, const TrainOptions& asked,
                           const TrainOptions& parameters, double seconds,
                           const RunControl& control) {
  MetricChoice choice{parameters, {}};
  TrainOptions learning = parameters;
  learning.metric_rounds = asked.metric_rounds.value_or(kRounds);
  learning.metric = asked.metric;
  const RunControl own = quiet(control);
  try {
    const LearnedMetric metric = with_threads(own.threads, [&] {
      const Prepared prepared = prepare(rows, learning, true, own);
      return learn_metric(prepared.set, {learning, own, {}}, seconds);
    });
    if (!asked.metric_rounds && !pays(metric, asked.task == Task::regression)) return choice;
    choice.options.feature_weights = metric.weights;
    choice.options.metric_matrix = metric.matrix;
    choice.remark = describe(metric, learning);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    if (asked.metric_rounds || asked.metric == MetricForm::full) throw;
    // Rows that the kernel cannot take, or no memory for weights nobody asked for: the trials tell.
  }
  return choice;
}

}  // namespace tamis

// What every method of src/methods looks like from outside:
//   MethodResult train_NAME(const TrainingSet& data, const TrainContext& context);
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "base/clock.hpp"
#include "model/machine.hpp"
#include "svm/training_set.hpp"
#include "tamis/control.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"

namespace tamis {

/// The options, the caller's wishes, and how long the training has been going on.
struct TrainContext {
  const TrainOptions& options;
  const RunControl& control;
  Stopwatch watch;

  /// Until max_seconds; infinite when there is no limit, never quite 0 when there is one.
  double seconds_left() const {
    if (options.max_seconds == 0) return std::numeric_limits<double>::infinity();
    return std::max(1e-9, options.max_seconds - watch.seconds());
  }
  /// `converged` while the work may go on.
  StopReason must_stop() const {
    if (control.cancelled()) return StopReason::interrupted;
    return options.max_seconds > 0 && watch.seconds() >= options.max_seconds
               ? StopReason::time_limit
               : StopReason::converged;
  }
};

/// A method fills in of the report what it knows: stop reason, objective, gap, violation,
/// iterations, evaluations, machines, support rows, phases, details, tables, warnings. train() adds
/// the rest.
struct MethodResult {
  std::shared_ptr<const Machine> machine;
  TrainReport report;
};

}  // namespace tamis

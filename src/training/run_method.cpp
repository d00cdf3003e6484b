#include "training/run_method.hpp"

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "training/limited_training.hpp"
#include "training/prepare.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

void add_warnings(const Dataset& data, const TrainOptions& options, TrainReport* report) {
  if (options.scaling_or_default() == ScalingMethod::none &&
      options.kernel != KernelType::precomputed) {
    const std::string advice = scaling_advice(data.features());
    if (!advice.empty()) report->warnings.push_back(advice);
  }
  if (report->stop_reason != StopReason::converged) {
    report->warnings.push_back(
        fmt::format("{}{} with violation {:.3g} (asked: {:.3g}): the model is usable, not optimal",
                    report->stop_reason == StopReason::interrupted ? "" : "stopped by ",
                    stop_reason_name(report->stop_reason), report->violation, options.eps));
  }
}

}  // namespace

TrainResult run_method(const Dataset& data, const TrainOptions& options,
                       const RunControl& control) {
  return run_method(find_method(options.method), data, options, control);
}

TrainResult run_method(const Method& method, const Dataset& data, const TrainOptions& options,
                       const RunControl& control) {
  if (options.task == Task::regression && !method.info.does_regression)
    throw InvalidArgument(
        fmt::format("the method {} does no regression: it learns classes", method.info.name));
  return with_threads(control.threads, [&] {
    const TrainContext context{options, control, {}};
    require_memory("training", resident_memory_bytes(),
                   resolve_memory_budget(control.memory_bytes));
    Prepared prepared = prepare(data, options, method.info.uses_kernel, control);
    const double prepare_seconds = context.watch.seconds();
    MethodResult trained = train_within_limit(method, prepared.set, context);
    const double method_seconds = context.watch.seconds() - prepare_seconds;
    TrainResult result;
    result.model = make_model(options.task, prepared.classes, prepared.scaling, trained.machine,
                              std::string(method.info.name));
    TrainReport& report = result.report;
    report = std::move(trained.report);
    if (!prepared.given_rows.empty()) {
      for (Index& row : report.support_rows) row = prepared.given_rows[usize(row)];
    }
    report.method = method.info.name;
    report.rows = prepared.set.rows();
    report.features = prepared.set.features.cols();
    report.classes = prepared.classes.size();
    report.support_vectors = result.model.num_support_vectors();
    if (report.phase_seconds.empty()) report.phase_seconds = {{"solve", method_seconds}};
    report.phase_seconds.insert(report.phase_seconds.begin(), {"prepare", prepare_seconds});
    report.peak_memory_bytes = peak_memory_bytes();
    add_warnings(data, options, &report);
    report.train_seconds = context.watch.seconds();
    return result;
  });
}

}  // namespace tamis

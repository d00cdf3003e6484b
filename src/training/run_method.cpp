#include "training/run_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "methods/common/kernel_machine.hpp"
#include "model/model_parts.hpp"
#include "multiclass/train_machines.hpp"
#include "tamis/error.hpp"
#include "training/limited_training.hpp"
#include "training/metric.hpp"
#include "training/prepare.hpp"
#include "training/registry.hpp"
#include "training/run_in_cells.hpp"
#include "training/share_result.hpp"

namespace tamis {
namespace {

void add_warnings(const Dataset& data, const TrainOptions& options, TrainReport* report) {
  if (options.scaling_or_default() == ScalingMethod::none &&
      options.kernel_or_default() != KernelType::precomputed) {
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

bool learns_weights(const Method& method, const TrainOptions& options) {
  const std::vector<std::string_view>& unused = method.info.unused;
  return options.metric_rounds_or_default() > 0 && method.info.uses_kernel &&
         std::find(unused.begin(), unused.end(), "metric-rounds") == unused.end();
}

// Feature weights, if they are asked for: `prepared` gets the best round's, the report the rounds.
TrainReport learn_weights(const Method& method, const TrainContext& context, Prepared* prepared) {
  TrainReport report;
  if (!learns_weights(method, context.options)) return report;
  const double start = context.watch.seconds();
  LearnedMetric metric =
      learn_metric(prepared->set, context, kMetricShareOfTime * context.seconds_left());
  if (metric.best_round > 0)
    use_metric(metric.weights, metric.matrix, context.options, context.control, prepared);
  report.remarks.push_back(describe(metric, context.options));
  if (context.control.on_remark) context.control.on_remark(report.remarks.back());
  report.details.emplace_back("metric_best_round", static_cast<double>(metric.best_round));
  report.tables.push_back(std::move(metric.rounds));
  report.phase_seconds.emplace_back("metric", context.watch.seconds() - start);
  return report;
}

// What runs on this rank alone must not run as if its rows were all.
void require_alone_or_shared(const Method& method, const TrainOptions& options, Group& group) {
  if (group.size() == 1) return;
  if (!method.info.trains_together) {
    std::string names;
    for (const MethodInfo& info : methods()) {
      if (info.trains_together) names += (names.empty() ? "" : ", ") + std::string(info.name);
    }
    throw InvalidArgument(fmt::format("the method {} does not run on several processes: {} does",
                                      method.info.name, names));
  }
  if (options.kernel_or_default() == KernelType::precomputed)
    throw InvalidArgument("a precomputed kernel does not run on several processes");
  if (options.polish) throw InvalidArgument("polish does not run on several processes");
  if (learns_weights(method, options))
    throw InvalidArgument("metric-rounds does not run on several processes");
}

// Where each row was in the data, for the rows of all ranks; empty: in the same place.
std::vector<Index> given_rows_of_all(const Prepared& prepared, Index given, Group& group) {
  if (group.size() == 1) return prepared.given_rows;
  const Index first = sum_of_earlier(group, given);
  if (!any_of_all(group, !prepared.given_rows.empty())) return {};
  std::vector<Index> rows(usize(prepared.set.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] =
        first + (prepared.given_rows.empty() ? static_cast<Index>(i) : prepared.given_rows[i]);
  }
  return gather_all(group, std::move(rows));
}

// The warm start with its rows as they are numbered now; nothing when it has other binary SVMs.
std::optional<KernelMachine> start_on_prepared(const Prepared& prepared,
                                               const TrainContext& context) {
  if (context.start == nullptr) return std::nullopt;
  const Decision decision = decision_for(prepared.set, context.options);
  if (context.start->decision != decision ||
      std::ssize(context.start->machines) != num_machines(decision, prepared.set.num_classes))
    return std::nullopt;
  KernelMachine start = *context.start;
  if (prepared.given_rows.empty()) return start;
  // Rows of weight 0 have no coefficient.
  for (TrainedMachine& machine : start.machines) {
    for (Index& row : machine.rows) {
      const auto at = std::lower_bound(prepared.given_rows.begin(), prepared.given_rows.end(), row);
      row = at - prepared.given_rows.begin();
    }
  }
  return start;
}

// In front of what the method tells.
template <typename T>
void put_first(const std::vector<T>& front, std::vector<T>* all) {
  all->insert(all->begin(), front.begin(), front.end());
}

// With a scaled copy of the rows in memory.
TrainResult train_at_once(const Method& method, const Dataset& data, const TrainContext& context) {
  Group& group = group_of(context.control);
  Prepared prepared = prepare(data, context.options, method.info.uses_kernel, context.control);
  const double prepare_seconds = context.watch.seconds();
  const TrainReport metric = learn_weights(method, context, &prepared);
  const double method_start = context.watch.seconds();
  const std::optional<KernelMachine> start = start_on_prepared(prepared, context);
  const TrainContext started{context.options, context.control, context.watch,
                             start ? &*start : nullptr};
  MethodResult trained = train_within_limit(method, prepared.set, started);
  const double method_seconds = context.watch.seconds() - method_start;
  TrainResult result;
  if (trained.machine != nullptr)
    result.model = make_model(context.options.task, prepared.classes, prepared.scaling,
                              trained.machine, std::string(method.info.name));
  result.model = share_model(group, std::move(result.model));
  TrainReport& report = result.report;
  report = std::move(trained.report);
  const std::vector<Index> given_rows = given_rows_of_all(prepared, data.rows(), group);
  if (!given_rows.empty()) {
    for (std::vector<Index>* rows : {&report.support_rows, &report.chosen_rows}) {
      for (Index& row : *rows) row = given_rows[usize(row)];
    }
  }
  report.rows = sum_of_all(group, prepared.set.rows());
  if (report.phase_seconds.empty()) report.phase_seconds = {{"solve", method_seconds}};
  put_first(metric.phase_seconds, &report.phase_seconds);
  report.phase_seconds.insert(report.phase_seconds.begin(), {"prepare", prepare_seconds});
  put_first(metric.remarks, &report.remarks);
  report.details.insert(report.details.end(), metric.details.begin(), metric.details.end());
  report.tables.insert(report.tables.end(), metric.tables.begin(), metric.tables.end());
  return result;
}

TrainResult train_cells(const Method& method, const Dataset& data, const TrainContext& context) {
  TrainedInCells trained =
      run_in_cells(method, data, context, learns_weights(method, context.options));
  TrainResult result;
  result.model = make_model(context.options.task, trained.classes, trained.scaling,
                            trained.trained.machine, std::string(method.info.name));
  TrainReport& report = result.report;
  report = std::move(trained.trained.report);
  report.rows = trained.rows;
  report.phase_seconds.insert(report.phase_seconds.begin(), {"prepare", trained.prepare_seconds});
  if (context.options.polish)
    report.warnings.emplace_back(
        "not polished: the model of this method cannot be used as a warm start for all rows");
  return result;
}

}  // namespace

TrainResult run_method(const Dataset& data, const TrainOptions& options, const RunControl& control,
                       const KernelMachine* start) {
  return run_method(find_method(options.method), data, options, control, start);
}

TrainResult run_method(const Method& method, const Dataset& data, const TrainOptions& options,
                       const RunControl& control, const KernelMachine* start) {
  if (options.task == Task::regression && !method.info.does_regression)
    throw InvalidArgument(fmt::format(
        "the method {} does not support regression, only classification", method.info.name));
  Group& group = group_of(control);
  require_alone_or_shared(method, options, group);
  return with_threads(control.threads, [&] {
    const TrainContext context{options, control, {}, start};
    require_memory("training", resident_memory_bytes(),
                   resolve_memory_budget(control.memory_bytes));
    TrainResult result = trains_in_cells(method, data, context)
                             ? train_cells(method, data, context)
                             : train_at_once(method, data, context);
    data.require_intact();
    TrainReport& report = result.report;
    report.method = method.info.name;
    report.classes = result.model.classes().size();
    report.features = data.cols();
    report.support_vectors = result.model.num_support_vectors();
    report.peak_memory_bytes = peak_memory_bytes();
    add_warnings(data, options, &report);
    report.train_seconds = context.watch.seconds();
    return result;
  });
}

}  // namespace tamis

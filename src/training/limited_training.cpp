#include "training/limited_training.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "base/deadline.hpp"
#include "base/group.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/stopgap.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"
#include "training/polish.hpp"
#include "training/share_result.hpp"

namespace tamis {
namespace {

// A method without kernel runs itself on the sample; the others get a kernel expansion.
MethodResult train_on_sample(const Method& method, const TrainingSet& data,
                             const TrainContext& context) {
  const TrainOptions options = stopgap_options(context.options);
  const TrainContext unlimited{options, context.control, {}};
  const std::vector<Index> rows = stopgap_rows(data, options);
  MethodResult result =
      method.info.uses_kernel
          ? expansion_result(data, train_kernel_machine(data, rows, unlimited), context.control)
          : method.train(data.select(rows), unlimited);
  TrainReport& report = result.report;
  report.stop_reason = StopReason::time_limit;
  report.gap = std::numeric_limits<double>::infinity();
  report.violation = std::numeric_limits<double>::infinity();
  report.details.emplace_back("rows_used", static_cast<double>(rows.size()));
  if (std::ssize(rows) < data.rows()) report.chosen_rows = rows;
  report.warnings.push_back(
      fmt::format("the time limit ended before {} had trained anything: the model is an SVM on {} "
                  "of {}; give it more time, or a faster method",
                  method.info.name, counted(static_cast<Index>(rows.size()), "row"), data.rows()));
  return result;
}

}  // namespace

MethodResult train_within_limit(const Method& method, const TrainingSet& data,
                                const TrainContext& context) {
  const bool is_limited = context.options.max_seconds > 0;
  Group& group = group_of(context.control);
  MethodResult trained;
  bool has_ended = true;
  try {
    const Deadline deadline(context.control, context.seconds_left());
    const TrainContext until_then{context.options, deadline.control(), context.watch,
                                  context.start};
    trained = method.train(data, until_then);
    if (context.options.polish) trained = polish(data, until_then, std::move(trained));
  } catch (const Cancelled&) {
    if (!is_limited) throw;
    has_ended = false;
    trained.report.stop_reason = StopReason::time_limit;
  }
  // All ranks go on, or none does, whichever of them the caller cancelled.
  const bool by_caller = any_of_all(group, context.control.cancelled());
  if (by_caller && any_of_all(group, !has_ended)) throw Cancelled();
  share_report(group, &trained);
  StopReason& stop = trained.report.stop_reason;
  // For the method, the end of the time was a caller who cancels.
  if (stop == StopReason::interrupted && !by_caller) stop = StopReason::time_limit;
  const bool has_nothing = trained.machine == nullptr || trained.machine->is_constant();
  // On several ranks a sample would be this one's own.
  if (stop == StopReason::time_limit && has_nothing && group.size() == 1)
    return train_on_sample(method, data, context);
  return trained;
}

}  // namespace tamis

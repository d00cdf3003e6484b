#include "selection/final_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"
#include "training/run_method.hpp"

namespace tamis {
namespace {

// Nothing when it is cancelled without a model.
std::optional<TrainResult> train_in_time(const Dataset& rows, TrainOptions options,
                                         const AutoBudget& budget, const RunControl& control) {
  const double left = budget.left();
  options.max_seconds = std::isfinite(left) ? std::max(0.01, left) : 0;
  try {
    return run_method(rows, options, control);
  } catch (const Cancelled&) {
    return std::nullopt;
  }
}

// On all rows, or on as many as the candidate is planned for.
std::optional<TrainResult> train_on_rows(const Dataset& data, const Strata& strata,
                                         const Candidate& best, const AutoBudget& budget,
                                         const RunControl& control) {
  if (best.rows >= data.rows()) return train_in_time(data, best.options, budget, control);
  const std::vector<Index> drawn = draw_training_rows(strata, best.rows, best.options.seed);
  std::optional<TrainResult> result =
      train_in_time(data.select(drawn), best.options, budget, control);
  if (result) renumber_rows(drawn, &result->report);
  return result;
}

// Rows of a training that is not worth halving any more.
constexpr Index kFewRows = 1000;

// A trial on some rows fitted into memory; all rows may not. Half as many until they do.
std::optional<TrainResult> train_on_rows_that_fit(const Dataset& data, const Strata& strata,
                                                  const Candidate& best, const AutoBudget& budget,
                                                  const RunControl& control) {
  for (Candidate part = best;; part.rows /= 2) {
    try {
      std::optional<TrainResult> result = train_on_rows(data, strata, part, budget, control);
      if (result && part.rows < best.rows) {
        result->report.warnings.push_back(
            fmt::format("the memory budget is too small for {}: trained on {} of them",
                        counted(best.rows, "row"), part.rows));
      }
      return result;
    } catch (const ResourceError&) {
      if (part.rows < 2 * kFewRows) throw;
    }
  }
}

// Products that a caller who cancelled is kept waiting for: some hundredths of a second.
constexpr double kProductsWhenCancelled = 2e7;
constexpr Index kLeastJudges = 50;

// The rows to judge a stopped model by; few when the caller waits.
Dataset judges(const TrainResult& stopped, const Trials& trials, const RunControl& control) {
  const Dataset& all = trials.validation();
  if (!control.cancelled()) return all;
  const double per_row = static_cast<double>(stopped.model.num_support_vectors() + 1) *
                         static_cast<double>(all.cols() + 1);
  const auto affordable = static_cast<Index>(kProductsWhenCancelled / per_row);
  std::vector<Index> rows(usize(std::min(all.rows(), std::max(kLeastJudges, affordable))));
  const double step = static_cast<double>(all.rows()) / static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<Index>(step * static_cast<double>(i));
  return all.select(rows);
}

// The stopped model saw the validation rows, the trial's did not: that favors the former, so it
// must really be bad to lose.
bool is_worse(const TrainResult& stopped, const Trials& trials, const RunControl& control) {
  return trials.best() && held_out_error(stopped.model, judges(stopped, trials, control),
                                         unstopped(quiet(control))) > trials.best()->error;
}

TrainResult model_of_trial(const Trials::Best& best, std::string_view why, StopReason stop) {
  TrainResult result = best.result;
  result.report.stop_reason = stop;
  result.report.warnings.push_back(fmt::format("{}: this is the model of a trial, {} on {}", why,
                                               result.report.method, counted(best.rows, "row")));
  result.report.details.emplace_back("rows_used", static_cast<double>(best.rows));
  return result;
}

TrainResult model_of_trial(const Trials::Best& best, const RunControl& control) {
  return model_of_trial(best, "the training was stopped",
                        control.cancelled() ? StopReason::interrupted : StopReason::time_limit);
}

}  // namespace

TrainResult train_chosen(const Dataset& data, const Strata& strata, const Candidate& best,
                         const Trials& trials, const AutoBudget& budget,
                         const RunControl& control) {
  if (control.cancelled() && trials.best()) return model_of_trial(*trials.best(), control);
  std::optional<TrainResult> result;
  try {
    result = train_on_rows_that_fit(data, strata, best, budget, control);
  } catch (const ResourceError&) {
    if (!trials.best()) throw;
    return model_of_trial(*trials.best(), "the memory budget is too small for the training",
                          trials.best()->result.report.stop_reason);
  }
  if (!result) {
    if (!trials.best()) throw Cancelled();
    return model_of_trial(*trials.best(), control);
  }
  if (result->report.stop_reason >= StopReason::time_limit && is_worse(*result, trials, control))
    return model_of_trial(*trials.best(), control);
  return *std::move(result);
}

}  // namespace tamis

#include "selection/auto_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "selection/parameters.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Where the method alone does not tell it.
std::string kernel_words(const TrainOptions& options) {
  if (!uses_kernel(options) || options.kernel_or_default() == KernelType::rbf) return {};
  return fmt::format(", {} kernel", kernel_name(options.kernel_or_default()));
}

using Details = decltype(TrainReport::details);

bool has(const Details& details, std::string_view name) {
  return std::any_of(details.begin(), details.end(),
                     [&](const auto& entry) { return entry.first == name; });
}

void add_parameters(const TrainOptions& chosen, Details* details) {
  details->emplace_back("chosen_cost", cost_of(chosen));
  if (gamma_is_number(chosen)) details->emplace_back("chosen_gamma", gamma_of(chosen));
  if (chosen.task == Task::regression) details->emplace_back("chosen_tube", tube_of(chosen));
}

}  // namespace

std::string parameter_words(const TrainOptions& options) {
  std::string words = kernel_words(options) + fmt::format(", cost {:.4g}", cost_of(options));
  if (uses_kernel(options) && gamma_is_number(options))
    words += fmt::format(", gamma {:.4g}", gamma_of(options));
  if (options.task == Task::regression) words += fmt::format(", tube {:.4g}", tube_of(options));
  if (scaling_of(options) != ScalingMethod::none)
    words += fmt::format(", scale {}", scaling_name(scaling_of(options)));
  if (uses_kernel(options) && !options.feature_weights.empty()) words += ", feature weights";
  if (uses_kernel(options) && !options.metric_matrix.empty()) words += ", full metric";
  return words;
}

AutoReport::AutoReport(const TrainOptions& asked, Index rows, const RunControl& control)
    : asked_(asked), rows_(rows), control_(control) {}

void AutoReport::say(std::string line) {
  if (control_.on_remark) control_.on_remark(line);
  remarks_.push_back(std::move(line));
}

std::string AutoReport::error_text(double error) const {
  return asked_.task == Task::regression ? fmt::format("{:.4g}", error)
                                         : fmt::format("{:.2f} %", 100 * error);
}

std::string AutoReport::comparison(std::span<const Candidate> compared) const {
  if (compared.empty()) return "methods that had time for a trial: none";
  std::string words;
  for (const Candidate& candidate : compared) {
    words += fmt::format("{}{}{} {}{} in {:.3g} s", words.empty() ? "" : "; ", candidate.method,
                         kernel_words(candidate.options), error_text(candidate.forecast.error),
                         candidate.rows < rows_ ? " on " + counted(candidate.rows, "row") : "",
                         candidate.forecast.seconds);
  }
  return words;
}

void AutoReport::announce(const Candidate& best, std::span<const Candidate> compared,
                          double choose_seconds) {
  say(fmt::format("auto: {}{}, on {}", best.method, parameter_words(best.options),
                  best.rows < rows_ ? fmt::format("{} of {}", best.rows, counted(rows_, "row"))
                                    : "all " + counted(rows_, "row")));
  say(fmt::format("forecast: {:.3g} s of training, error {}; choosing took {:.3g} s",
                  best.forecast.seconds, error_text(best.forecast.error), choose_seconds));
  say(fmt::format("why: lowest forecast error{} of {}",
                  asked_.max_seconds > 0 ? fmt::format(" within {:.3g} s", asked_.max_seconds) : "",
                  comparison(compared)));
}

void AutoReport::complete(const Candidate& best, double cross_validation_error,
                          double choose_seconds, double total_seconds, TrainReport* report) {
  const double train_seconds = total_seconds - choose_seconds;
  say(fmt::format("training took {:.3g} s, forecast {:.3g} s", train_seconds,
                  best.forecast.seconds));
  Details& details = report->details;
  if (!has(details, "rows_used"))
    details.emplace_back("rows_used", static_cast<double>(report->rows));
  add_parameters(best.options, &details);
  details.emplace_back("pilot_seconds", choose_seconds);
  details.emplace_back("cross_validation_error", cross_validation_error);
  details.emplace_back("forecast_seconds", best.forecast.seconds);
  details.emplace_back("actual_seconds", train_seconds);
  details.emplace_back("forecast_error", best.forecast.error);
  report->phase_seconds.insert(report->phase_seconds.begin(), {"choose", choose_seconds});
  report->rows = rows_;
  report->train_seconds = total_seconds;
  report->remarks = remarks_;
}

}  // namespace tamis

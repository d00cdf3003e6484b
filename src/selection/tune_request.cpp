#include "selection/tune_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "selection/parameters.hpp"
#include "selection/usual_axes.hpp"
#include "tamis/error.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

// What k'-internal cross-validation can do.
void require_local(const TuneOptions& options) {
  if (!find_method(options.base.method).tuning.on_neighborhoods) {
    std::vector<std::string_view> local;
    for (const Method& method : method_registry()) {
      if (method.tuning.on_neighborhoods) local.push_back(method.info.name);
    }
    throw InvalidArgument(fmt::format("'centres' is for the methods {}", fmt::join(local, ", ")));
  }
  if (options.search == Search::halving)
    throw InvalidArgument(
        "halving starts on few rows, 'centres' uses all of them: choose one of the two");
  if (options.base.metric_rounds_or_default() > 0)
    throw InvalidArgument(
        "metric-rounds learns from all rows, 'centres' tries single neighborhoods: choose one of "
        "the two");
  for (const TuneAxis& axis : options.axes) {
    if (axis.option != "cost" && axis.option != "gamma" && axis.option != "k") {
      throw InvalidArgument(
          fmt::format("with 'centres', cost, gamma and k can be tried, not {}", axis.option));
    }
  }
}

void set_number(const OptionDescription& option, double value, TrainOptions* options) {
  if (option.type == OptionType::integer && value == std::floor(value) && std::abs(value) < 0x1p53)
    option.set(*options, static_cast<std::int64_t>(value));
  else
    option.set(*options, value);
}

void require_axis(const TuneAxis& axis, const TrainOptions& base) {
  const OptionDescription& option = find_option(axis.option);
  const bool is_number = option.type == OptionType::number || option.type == OptionType::integer;
  if (!is_number || option.name == "seed")
    throw InvalidArgument(fmt::format("{} cannot be tuned: it is not a number", axis.option));
  if (option.name == "max-categories")
    throw InvalidArgument("max-categories cannot be tuned: text columns become numbers only once");
  if (!applies_to(option, base.method, base.task))
    throw InvalidArgument(fmt::format("{} has no option {} to tune", base.method, axis.option));
  if (const KernelType kernel = base.kernel_or_default();
      !base.ensemble.mixed_kernels && !kernel_has(kernel, option.name))
    throw InvalidArgument(fmt::format("{} cannot be tuned: the {} kernel has none", axis.option,
                                      kernel_name(kernel)));
  if (axis.values.empty())
    throw InvalidArgument(fmt::format("no values of {} to try", axis.option));
  for (const double value : axis.values) {
    TrainOptions scratch;
    set_number(option, value, &scratch);
    option.check(scratch);
  }
}

}  // namespace

void require_valid(const TuneOptions& options) {
  options.base.validate();
  if (options.folds < 2)
    throw InvalidArgument(fmt::format("folds is {}: it must be at least 2", options.folds));
  if (options.centres < 0 || options.centres == 1)
    throw InvalidArgument(
        fmt::format("'centres' is {}: it must be 2 or more, or 0", options.centres));
  if (options.centres > 0) require_local(options);
  if (options.rows && *options.rows < 1)
    throw InvalidArgument(
        fmt::format("rows is {}: it must be at least 1, all or automatic", *options.rows));
  if (options.points < 1)
    throw InvalidArgument(fmt::format("points is {}: it must be at least 1", options.points));
}

std::vector<TuneAxis> search_axes(const Dataset& data, const TuneOptions& options,
                                  const RunControl& control) {
  std::vector<TuneAxis> axes =
      options.axes.empty() ? usual_axes(data, options.base, control) : options.axes;
  for (const TuneAxis& axis : axes) {
    require_axis(axis, options.base);
    if (axis.option == "cost" && !uses_cost(options.base))
      throw InvalidArgument("cost has no effect next to nu or margin-k: tune nu or gamma");
  }
  return axes;
}

bool is_whole(const TuneAxis& axis) { return find_option(axis.option).type == OptionType::integer; }

TrainOptions options_at(const TrainOptions& base, std::span<const TuneAxis> axes,
                        std::span<const double> values) {
  TrainOptions options = base;
  for (std::size_t a = 0; a < axes.size(); ++a)
    set_number(find_option(axes[a].option), values[a], &options);
  return options;
}

}  // namespace tamis

#include "selection/tune_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "selection/usual_axes.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

const OptionDescription& find_option(std::string_view name) {
  for (const OptionDescription& option : train_option_table()) {
    if (option.name == name) return option;
  }
  throw InvalidArgument(fmt::format("there is no option '{}' to tune", name));
}

bool takes(const OptionDescription& option, std::string_view text) {
  TrainOptions scratch;
  try {
    option.set(scratch, text);
  } catch (const InvalidArgument&) {
    return false;
  }
  return true;
}

// What k'-internal cross-validation can do.
void require_local(const TuneOptions& options) {
  constexpr std::array<std::string_view, 3> kLocal{"falk", "falk-c", "knn-svm"};
  if (std::find(kLocal.begin(), kLocal.end(), options.base.method) == kLocal.end())
    throw InvalidArgument(fmt::format("centres are for the methods {}", fmt::join(kLocal, ", ")));
  if (options.search == Search::halving)
    throw InvalidArgument("halving searches on ever more rows, centres on all: choose one of them");
  for (const TuneAxis& axis : options.axes) {
    if (axis.option != "cost" && axis.option != "gamma" && axis.option != "k") {
      throw InvalidArgument(
          fmt::format("with centres, cost, gamma and k can be tried, not {}", axis.option));
    }
  }
}

void require_axis(const TuneAxis& axis, const std::string& method) {
  const OptionDescription& option = find_option(axis.option);
  if (option.value != "NUMBER" || option.name == "seed")
    throw InvalidArgument(fmt::format("{} cannot be tuned: it is not a number", axis.option));
  if (!applies_to(option, method))
    throw InvalidArgument(fmt::format("{} has no option {} to tune", method, axis.option));
  if (axis.values.empty())
    throw InvalidArgument(fmt::format("no values of {} to try", axis.option));
  for (const double value : axis.values) {
    if (!takes(option, fmt::format("{}", value)))
      throw InvalidArgument(fmt::format("{} cannot be {}", axis.option, value));
  }
}

}  // namespace

void require_valid(const TuneOptions& options) {
  options.base.validate();
  if (options.folds < 2)
    throw InvalidArgument(fmt::format("folds is {}: it must be at least 2", options.folds));
  if (options.centres < 0 || options.centres == 1)
    throw InvalidArgument(
        fmt::format("centres is {}: it must be 2 or more, or 0", options.centres));
  if (options.centres > 0) require_local(options);
  if (options.points < 1)
    throw InvalidArgument(fmt::format("points is {}: it must be at least 1", options.points));
}

std::vector<TuneAxis> search_axes(const Dataset& data, const TuneOptions& options,
                                  const RunControl& control) {
  std::vector<TuneAxis> axes =
      options.axes.empty() ? usual_axes(data, options.base, control) : options.axes;
  for (const TuneAxis& axis : axes) require_axis(axis, options.base.method);
  return axes;
}

bool is_whole(const TuneAxis& axis) { return !takes(find_option(axis.option), "1.5"); }

TrainOptions options_at(const TrainOptions& base, std::span<const TuneAxis> axes,
                        std::span<const double> values) {
  TrainOptions options = base;
  for (std::size_t a = 0; a < axes.size(); ++a)
    find_option(axes[a].option).set(options, fmt::format("{}", values[a]));
  return options;
}

}  // namespace tamis

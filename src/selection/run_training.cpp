#include "selection/run_training.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "selection/auto.hpp"
#include "training/prepare.hpp"
#include "training/registry.hpp"
#include "training/run_method.hpp"

namespace tamis {
namespace {

// Above this many rows, a method is chosen by trials unless the user names one.
constexpr Index kAutoRows = 100'000;

// Whether every option that was changed means something to `auto`.
bool suits_auto(const TrainOptions& options) {
  const TrainOptions defaults;
  return std::all_of(train_option_table().begin(), train_option_table().end(),
                     [&](const OptionDescription& option) {
                       return applies_to(option, kAutoMethod) ||
                              option.text(options) == option.text(defaults);
                     });
}

}  // namespace

std::string resolve_method(const Dataset& data, const TrainOptions& options) {
  if (options.method != kDefaultMethod) return options.method;
  const bool many =
      data.rows() > kAutoRows && options.kernel_or_default() != KernelType::precomputed;
  return std::string(many && suits_auto(options) ? kAutoMethod : kExactMethod);
}

TrainResult run_training(const Dataset& data, const TrainOptions& options,
                         const RunControl& control) {
  TrainOptions named = options;
  named.method = resolve_method(data, options);
  if (group_of(control).size() > 1) {
    if (options.method == kAutoMethod)
      throw InvalidArgument("auto does not run on several processes: name a method");
    if (options.method == kDefaultMethod) named.method = kExactMethod;
  }
  if (named.method != kAutoMethod) return run_method(data, named, control);
  std::vector<Index> kept;
  TrainResult result = train_auto(without_weightless_rows(data, &kept, control), named, control);
  if (!kept.empty()) {
    for (std::vector<Index>* rows : {&result.report.support_rows, &result.report.chosen_rows}) {
      for (Index& row : *rows) row = kept[usize(row)];
    }
  }
  return result;
}

}  // namespace tamis

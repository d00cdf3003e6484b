#include "training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tamis::cli {

void TrainingOptions::declare(Options& options, bool with_method) {
  for (const OptionDescription& described : train_option_table()) {
    if (described.name == "method" && !with_method) continue;
    std::string names;
    if (!described.letter.empty()) names = fmt::format("-{},", described.letter);
    if (described.name == "class-weight") names = "-w,";
    names += fmt::format("--{}", described.name);
    OptionInfo& info =
        options.custom(names, std::string(described.value), std::string(described.help),
                       [this, &described](const std::string& text) {
                         described.set(values_, text);
                         given_.push_back(&described);
                       });
    info.default_text = described.get(values_);
    info.choices.assign(described.choices.begin(), described.choices.end());
  }
}

bool TrainingOptions::was_given(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const OptionDescription* option) { return option->name == name; });
}

bool TrainingOptions::all_used_by(std::string_view method) const {
  return std::all_of(given_.begin(), given_.end(),
                     [&](const OptionDescription* option) { return applies_to(*option, method); });
}

void TrainingOptions::require_used_by(std::span<const std::string> methods) const {
  for (const OptionDescription* option : given_) {
    const bool used = std::any_of(methods.begin(), methods.end(), [&](const std::string& method) {
      return applies_to(*option, method);
    });
    if (used) continue;
    throw UsageError(fmt::format("--{} is for the method{} {}, not for {}", option->name,
                                 option->methods.size() > 1 ? "s" : "",
                                 fmt::join(option->methods, ", "), fmt::join(methods, ", ")));
  }
}

}  // namespace tamis::cli

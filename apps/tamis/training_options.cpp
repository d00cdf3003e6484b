#include "training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tamis::cli {

OptionInfo& declare_training_option(Options& options, const OptionDescription& described,
                                    std::function<void(const std::string&)> assign) {
  std::string names;
  if (!described.letter.empty()) names = fmt::format("-{},", described.letter);
  if (described.name == "class-weight") names = "-w,";
  names += fmt::format("--{}", described.name);
  OptionInfo& info = options.custom(names, std::string(described.value),
                                    std::string(described.help), std::move(assign));
  info.range = described.range;
  info.default_text = described.text(TrainOptions());
  info.default_help = described.default_help;
  info.choices.assign(described.choices.begin(), described.choices.end());
  info.described = &described;
  info.section = described.group == OptionGroup::kernel   ? OptionSection::kernel
                 : described.group == OptionGroup::method ? OptionSection::method
                                                          : OptionSection::training;
  return info;
}

void TrainingOptions::declare(Options& options, bool with_method) {
  for (const OptionDescription& described : train_option_table()) {
    if (described.name == "method" && !with_method) continue;
    declare_training_option(options, described, [this, &described](const std::string& text) {
      described.set_text(values_, text);
      given_.push_back({&described, text});
    });
  }
}

bool TrainingOptions::was_given(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const Given& given) { return given.option->name == name; });
}

std::string TrainingOptions::given_words(std::span<const std::string> except) const {
  std::string words;
  for (const Given& given : given_) {
    if (std::find(except.begin(), except.end(), given.option->name) != except.end()) continue;
    words += fmt::format(" --{}", given.option->name);
    if (!given.option->value.empty()) words += " " + shell_word(given.text);
  }
  return words;
}

void TrainingOptions::require_used_by(std::span<const std::string> methods) const {
  for (const Given& given : given_) {
    const OptionDescription* option = given.option;
    const Task task = values_.task;
    const bool used = std::any_of(methods.begin(), methods.end(), [&](const std::string& method) {
      return applies_to(*option, method, task);
    });
    if (used) continue;
    if (option->task && *option->task != task)
      throw UsageError(fmt::format("--{} is for a {}, not for a {}", option->name,
                                   task_name(*option->task), task_name(task)));
    const std::vector<std::string_view> others = methods_with(*option, task);
    throw UsageError(fmt::format(
        "--{} is for the method{} {}, not for {}{}", option->name, others.size() > 1 ? "s" : "",
        fmt::join(others, ", "),
        methods[0] == kDefaultMethod ? "exact" : fmt::to_string(fmt::join(methods, ", ")),
        task == Task::regression ? " in a regression" : ""));
  }
}

}  // namespace tamis::cli

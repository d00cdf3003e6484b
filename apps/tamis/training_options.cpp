#include "training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tamis::cli {
namespace {

// What leaves the option without an effect in this training; empty: nothing.
std::string what_overrides(std::string_view name, const TrainOptions& options) {
  const KernelType kernel = options.kernel_or_default();
  const bool is_mixed = options.ensemble.mixed_kernels;
  if (is_mixed && name == "kernel") return "--mixed-kernels draws the kernels";
  if (!is_mixed && !kernel_has(kernel, name))
    return fmt::format("the {} kernel has no {}", kernel_name(kernel), name);
  if (name == "gamma" && options.method == "knn" && !kernel_has(kernel, "coef0"))
    return "it does not change which rows are nearest";
  if (name == "cost" && options.method == "opt-soft-margin") {
    if (options.opt_margin.nu) return "--nu decides C";
    if (options.opt_margin.margin_k.rule != MarginK::Rule::automatic) return "--margin-k decides C";
  }
  if (name == "boundary" && options.leader.refine_or_default() == 0)
    return "--refine is 0, which it also is where --threshold or --leaders is given";
  return {};
}

}  // namespace

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

std::string TrainingOptions::given_words(const TrainOptions& training) const {
  std::string words;
  for (const Given& given : given_) {
    if (given.option->name == "method" ||
        !applies_to(*given.option, training.method, training.task) ||
        !what_overrides(given.option->name, training).empty())
      continue;
    words += fmt::format(" --{}", given.option->name);
    if (!given.option->value.empty()) words += " " + shell_word(given.text);
  }
  return words;
}

void TrainingOptions::require_used_by(std::span<const std::string> methods, bool draws_rows) const {
  for (const Given& given : given_) {
    const OptionDescription* option = given.option;
    if (draws_rows && option->name == "seed") continue;
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

void TrainingOptions::require_effect(std::span<const TrainOptions> trainings) const {
  for (const Given& given : given_) {
    std::string reason;
    const bool has_one = std::any_of(trainings.begin(), trainings.end(), [&](const auto& options) {
      reason = what_overrides(given.option->name, options);
      return reason.empty();
    });
    if (!has_one)
      throw UsageError(fmt::format("--{} has no effect: {}", given.option->name, reason));
  }
}

}  // namespace tamis::cli

// The table of all training options, with the methods that use each: these come from the methods'
// own descriptors.
#include <fmt/format.h>

#include <algorithm>

#include "options/option_builder.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

OptionDescription method_option() {
  OptionDescription option;
  option.name = "method";
  option.type = OptionType::choice;
  option.group = OptionGroup::common;
  option.value = "NAME";
  option.help = "Training method; auto: chosen by trials";
  option.choices = method_names();
  option.choices.push_back(kAutoMethod);
  option.unset = kDefaultMethod;
  option.default_help = "exact up to 100,000 rows, auto above";
  option.set = [](TrainOptions& options, const OptionValue& value) {
    const bool is_named = !std::holds_alternative<std::monostate>(value);
    options.method = is_named ? word_of("method", value) : std::string(kDefaultMethod);
  };
  option.get = [](const TrainOptions& options) -> OptionValue {
    return options.method == kDefaultMethod ? OptionValue() : options.method;
  };
  option.check = [](const TrainOptions& options) {
    if (options.method != kAutoMethod) find_method(options.method);
  };
  return option;
}

bool is_among(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool uses(const Method& method, const OptionDescription& option) {
  if (option.group == OptionGroup::kernel) return method.info.uses_kernel;
  if (option.name == "polish") return method.info.kind == MethodKind::part_of_rows;
  return is_among(method.info.options, option.name);
}

std::vector<OptionDescription> make_table() {
  std::vector<OptionDescription> table{method_option()};
  add_common_options(table);
  add_kernel_options(table);
  add_linear_options(table);
  add_sifting_options(table);
  add_leader_options(table);
  add_local_options(table);
  add_ensemble_options(table);
  add_opt_margin_options(table);
  for (OptionDescription& option : table) {
    if (option.group == OptionGroup::common) continue;
    for (const Method& method : method_registry()) {
      if (uses(method, option)) option.methods.push_back(method.info.name);
    }
    if (option.group == OptionGroup::kernel) option.methods.push_back(kAutoMethod);
  }
  return table;
}

}  // namespace

bool applies_to(const OptionDescription& option, std::string_view method) {
  return applies_to(option, method, Task::classification) ||
         applies_to(option, method, Task::regression);
}

bool applies_to(const OptionDescription& option, std::string_view method, Task task) {
  if (method == kDefaultMethod) method = kExactMethod;
  if (!option.methods.empty() && !is_among(option.methods, method)) return false;
  if (option.task && *option.task != task) return false;
  if (method == kAutoMethod) return true;
  const MethodInfo& info = find_method(method).info;
  if (is_among(info.unused, option.name)) return false;
  return task == Task::classification || !is_among(info.unused_in_regression, option.name);
}

std::vector<std::string_view> methods_with(const OptionDescription& option, Task task) {
  std::vector<std::string_view> result = method_names();
  result.push_back(kAutoMethod);
  std::erase_if(result, [&](std::string_view name) { return !applies_to(option, name, task); });
  return result;
}

const std::vector<OptionDescription>& train_option_table() {
  static const std::vector<OptionDescription> table = make_table();
  return table;
}

const OptionDescription& find_option(std::string_view name) {
  std::vector<std::string_view> known;
  for (const OptionDescription& option : train_option_table()) {
    if (option.name == name) return option;
    known.push_back(option.name);
  }
  const std::string_view nearest = nearest_name(name, known);
  throw InvalidArgument(
      fmt::format("there is no training option '{}'{}", name,
                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

void set_option(TrainOptions& options, std::string_view name, std::string_view value) {
  find_option(name).set_text(options, value);
}

}  // namespace tamis

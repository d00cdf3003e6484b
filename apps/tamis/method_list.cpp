#include "method_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options.hpp"
#include "tamis/text.hpp"
#include "tamis/train.hpp"

namespace tamis::cli {
namespace {

[[noreturn]] void fail_unknown(const std::string& what, std::string_view name,
                               const std::vector<std::string_view>& known) {
  const std::string_view nearest = nearest_name(name, known);
  throw UsageError(fmt::format("{} '{}'{}", what, name,
                               nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

}  // namespace

std::vector<ComparedMethod> parse_methods(const std::string& text, const TrainOptions& shared) {
  const OptionDescription& method_option = train_option_table().front();
  std::vector<ComparedMethod> methods;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const std::string_view method = name.substr(0, name.find('/'));
    const auto& known = method_option.choices;
    if (std::find(known.begin(), known.end(), method) == known.end())
      fail_unknown("--methods: there is no method", method, known);
    if (std::any_of(methods.begin(), methods.end(),
                    [&](const ComparedMethod& other) { return other.name == name; })) {
      throw UsageError(fmt::format(
          "--methods names {} twice: write {}/LABEL to have a method several times", name, method));
    }
    methods.push_back({std::string(name), shared});
    methods.back().options.method = method;
  }
  if (methods.empty()) throw UsageError("--methods is empty: name some, as exact,falk");
  return methods;
}

void set_method_option(const std::string& text, std::vector<ComparedMethod>* methods) {
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.substr(0, equals).rfind('.');
  if (equals == std::string::npos || dot == std::string::npos)
    throw UsageError(fmt::format("--set is '{}': write METHOD.OPTION=VALUE, as falk.k=500", text));
  const std::string name = text.substr(0, dot);
  const auto entry = std::find_if(methods->begin(), methods->end(),
                                  [&](const ComparedMethod& m) { return m.name == name; });
  if (entry == methods->end()) {
    std::vector<std::string_view> known;
    for (const ComparedMethod& method : *methods) known.push_back(method.name);
    fail_unknown("--set: --methods does not name", name, known);
  }
  const OptionDescription& option = find_option(text.substr(dot + 1, equals - dot - 1));
  if (option.name == "method" || option.name == "task" ||
      !applies_to(option, entry->options.method)) {
    throw UsageError(fmt::format("--set: {} has no option {} to set", name, option.name));
  }
  option.set_text(entry->options, text.substr(equals + 1));
}

}  // namespace tamis::cli

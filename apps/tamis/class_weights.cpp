#include "class_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "options.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view kLong = "--class-weight";

// "-w1", "-w-1", "-wcat"; but not "-w", "-wbalanced" and "-w1:5", where the rest is the value.
bool is_glued(std::string_view argument) {
  return argument.size() > 2 && argument.starts_with("-w") &&
         argument.find_first_of(":=") == std::string_view::npos && argument != "-wbalanced";
}

// The value of --class-weight=VALUE or -wVALUE; empty when `argument` is neither.
std::string attached_value(const std::string& argument) {
  if (argument.starts_with(kLong) && argument.substr(kLong.size()).starts_with('='))
    return argument.substr(kLong.size() + 1);
  const bool is_short = argument.size() > 2 && argument.starts_with("-w") && !is_glued(argument);
  return is_short ? argument.substr(argument[2] == '=' ? 3 : 2) : "";
}

}  // namespace

std::vector<std::string> join_class_weights(const std::vector<std::string>& arguments) {
  const auto command = std::find_if(arguments.begin(), arguments.end(),
                                    [](const std::string& a) { return !a.starts_with('-'); });
  const bool has_letters =
      command != arguments.end() && (*command == "train" || *command == "certify");
  if (!has_letters || std::none_of(command, arguments.end(), is_glued)) return arguments;
  std::vector<std::string> result;
  std::string joined;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string value = attached_value(argument);
    if (is_glued(argument) || argument == "-w" || argument == kLong) {
      if (i + 1 == arguments.size())
        throw UsageError(fmt::format("{} needs a value, as in -w1 5", argument));
      ++i;
      value = is_glued(argument) ? argument.substr(2) + ":" + arguments[i] : arguments[i];
    }
    if (value.empty()) {
      result.push_back(argument);
    } else if (value == "balanced") {
      throw UsageError("balanced class weights and single ones do not go together");
    } else {
      joined += (joined.empty() ? "" : ",") + value;
    }
  }
  result.push_back(std::string(kLong) + "=" + joined);
  return result;
}

}  // namespace tamis::cli

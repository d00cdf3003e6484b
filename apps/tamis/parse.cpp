// The only file that knows CLI11: it splits the command line; values are converted by the options'
// own assign(), once everything is known to be in its place.
#include "parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "class_weights.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

struct Bound {
  const OptionInfo* info = nullptr;
  CLI::Option* option = nullptr;
};

std::vector<Bound> bind_options(CLI::App& app, const Options& options) {
  std::vector<Bound> bound;
  for (const OptionInfo& info : options.all()) {
    std::string names = info.names.front();
    for (std::size_t i = 1; i < info.names.size(); ++i) names += "," + info.names[i];
    CLI::Option* option = nullptr;
    if (info.is_flag()) {
      option = app.add_flag(names);
    } else {
      // Results stay with the option; conversion comes later.
      option = app.add_option(names, [](const CLI::results_t&) { return true; });
      option->multi_option_policy(info.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                                  : CLI::MultiOptionPolicy::TakeLast);
      if (info.is_argument()) option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    }
    bound.push_back({&info, option});
  }
  return bound;
}

[[noreturn]] void fail_unknown(const char* kind, const std::string& given,
                               const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view nearest = nearest_name(given, views);
  throw UsageError(fmt::format("unknown {} {}{}", kind, given,
                               nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

// LIBSVM's -h is a switch, 0 or 1: its scripts must not get the help, and exit code 0, instead of a
// model.
void refuse_shrinking_switch(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "train") return;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string value = argument == "-h" && i + 1 < arguments.size() ? arguments[i + 1]
                              : argument.starts_with("-h")                 ? argument.substr(2)
                                                                           : "";
    if (value != "0" && value != "1") continue;
    throw UsageError(
        fmt::format("-h {0}: leave it out; shrinking, which LIBSVM's -h {0} switches {1}, never "
                    "changes the result here (-h alone is help)",
                    value, value == "0" ? "off" : "on"));
  }
}

std::vector<std::string> option_names(const Options& options) {
  std::vector<std::string> names = {"--help"};
  for (const OptionInfo& info : options.all()) {
    if (info.is_argument()) continue;
    // Long names only: every letter is near to every other.
    if (info.long_name().starts_with("--")) names.push_back(info.long_name());
  }
  return names;
}

void refuse_extras(const CLI::App& app, const std::vector<std::string>& known_options) {
  for (const std::string& extra : app.remaining()) {
    if (extra.size() > 1 && extra.front() == '-')
      fail_unknown("option", extra.substr(0, extra.find('=')), known_options);
  }
}

void require_arguments(const std::vector<Bound>& bound, const CLI::App& app,
                       const std::string& command) {
  for (const Bound& b : bound) {
    if (b.info->required && b.option->count() == 0)
      throw UsageError(fmt::format("{} needs {}; see tamis {} --help", command,
                                   b.info->is_argument() ? b.info->value : b.info->long_name(),
                                   command));
  }
  for (const std::string& extra : app.remaining())
    throw UsageError(fmt::format("{} does not take another argument: '{}'", command, extra));
}

void assign_values(const std::vector<Bound>& bound) {
  for (const Bound& b : bound) {
    if (b.option->count() == 0) continue;
    if (b.info->is_flag()) {
      b.info->assign("");
    } else if (b.info->repeatable) {
      for (const std::string& text : b.option->results()) b.info->assign(text);
    } else {
      b.info->assign(b.option->results().back());
    }
  }
}

}  // namespace

Parsed parse_command_line(const std::vector<CommandEntry>& commands, int argc,
                          const char* const* argv) {
  CLI::App app;
  app.allow_extras();
  app.require_subcommand(0, 1);  // so that a file may be called like a command
  app.set_help_flag("-h,--help");
  CLI::Option* version = app.add_flag("--version");
  std::vector<CLI::App*> subcommands;
  std::vector<std::vector<Bound>> bound;
  std::vector<std::string> names;
  for (const CommandEntry& entry : commands) {
    CLI::App* sub = app.add_subcommand(entry.command->name());
    sub->allow_extras();
    sub->set_help_flag("-h,--help");
    bound.push_back(bind_options(*sub, entry.options));
    subcommands.push_back(sub);
    if (!entry.command->hidden()) names.push_back(entry.command->name());
  }
  const auto chosen = [&] {
    const auto found = std::find_if(subcommands.begin(), subcommands.end(),
                                    [](const CLI::App* sub) { return sub->parsed(); });
    return static_cast<std::size_t>(found - subcommands.begin());
  };

  const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  refuse_shrinking_switch(given);
  // CLI11 takes the arguments last first.
  auto arguments = join_class_weights(given);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return {Request::help, chosen() < commands.size() ? &commands[chosen()] : nullptr};
  } catch (const CLI::ParseError& error) {
    if (chosen() < commands.size())
      refuse_extras(*subcommands[chosen()], option_names(commands[chosen()].options));
    throw UsageError(error.what());
  }

  if (version->count() > 0) return {Request::version, nullptr};
  refuse_extras(app, {"--help", "--version"});
  if (!app.remaining().empty()) fail_unknown("command", app.remaining().front(), names);
  if (chosen() == commands.size())
    throw UsageError(fmt::format("give a command: {}", join_names(names)));
  const CommandEntry& entry = commands[chosen()];
  refuse_extras(*subcommands[chosen()], option_names(entry.options));
  require_arguments(bound[chosen()], *subcommands[chosen()], entry.command->name());
  assign_values(bound[chosen()]);
  return {Request::run, &entry};
}

}  // namespace tamis::cli

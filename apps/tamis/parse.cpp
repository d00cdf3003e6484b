// Splits the command line: --name value, --name=value, -x value, -xvalue; -- ends the options.
// Values are converted by the options' own assign(), once everything is known to be in its place.
#include "parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "class_weights.hpp"
#include "help.hpp"
#include "tamis/methods.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

// `help`: the command that lists what there is.
[[noreturn]] void fail_unknown(const char* kind, const std::string& given,
                               const std::vector<std::string>& known, const std::string& help) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view nearest = nearest_name(given, views);
  throw UsageError(fmt::format(
      "unknown {} {}; {}", kind, given,
      nearest.empty() ? fmt::format("see {}", help) : fmt::format("did you mean {}?", nearest)));
}

// Letters of LIBSVM's programs that Tamis does not have, with what to use instead.
struct LibsvmLetter {
  std::string_view command;
  std::string_view letter;
  std::string_view advice;
};
constexpr LibsvmLetter kLibsvmLetters[] = {
    {"train", "-b", "for probabilities (-b 1) use --probability-folds 5; omit -b 0"},
    {"train", "-v", "for cross-validation use tamis tune, for example tamis tune DATA --folds 5"},
    {"train", "-n", "for nu use --method opt-soft-margin --nu NU"},
    {"predict", "-b", "for probabilities (-b 1) use --probabilities; omit -b 0"},
};

// The command that does what a program of LIBSVM does, or nothing.
std::string_view command_like(std::string_view program) {
  constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
      {"svm-train", "train"},
      {"svm-predict", "predict"},
      {"svm-scale", "scale"},
      {"svm-grid", "tune"},
      {"svm-easy", "train DATA --method auto"},
      {"svm-subset", "train DATA --method subsample"}};
  for (const auto& [name, command] : kPrograms) {
    if (name == program) return command;
  }
  return {};
}

void refuse_libsvm_letter(const std::string& command, const std::string& word) {
  for (const LibsvmLetter& known : kLibsvmLetters) {
    if (known.command == command && known.letter == word.substr(0, 2))
      throw UsageError(fmt::format("{} is an option of LIBSVM: {}", known.letter, known.advice));
  }
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
        fmt::format("-h {0}: omit it; shrinking, which LIBSVM's -h {0} switches {1}, never "
                    "changes the result here (-h alone is help)",
                    value, value == "0" ? "off" : "on"));
  }
}

bool may_be_input(const std::string& word) {
  std::error_code error;
  return word.find_first_of("*?[") != std::string::npos || std::filesystem::exists(word, error);
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }
bool is_help(const std::string& word) { return word == "-h" || word == "--help"; }

// The arguments of one command, split.
class CommandLine {
 public:
  CommandLine(const CommandEntry& entry, std::vector<std::string> words)
      : entry_(entry), words_(std::move(words)) {
    for (const OptionInfo& info : entry.options.all()) {
      if (info.is_argument()) arguments_.push_back(&info);
    }
  }

  // The values as given; nothing is converted yet.
  void split() {
    for (next_ = 0; next_ < words_.size();) {
      const std::string& word = words_[next_++];
      if (word == "--" && !ended_)
        ended_ = true;
      else if (is_option(word) && !ended_)
        take_option(word);
      else
        take_argument(word);
    }
  }

  void require_all() const {
    for (const OptionInfo& info : entry_.options.all()) {
      if (!info.required || is_given(info)) continue;
      throw UsageError(fmt::format("{0} needs {1}; see tamis {0} --help", entry_.command->name(),
                                   info.is_argument() ? info.value : info.long_name()));
    }
  }

  // The last value of an option counts, unless it is repeatable.
  void assign() const {
    for (const OptionInfo& info : entry_.options.all()) {
      std::vector<const std::string*> values;
      for (const auto& [option, value] : given_) {
        if (option == &info) values.push_back(&value);
      }
      if (!values.empty() && !info.repeatable) values.erase(values.begin(), values.end() - 1);
      for (const std::string* value : values) info.assign(*value);
    }
  }

  // No option is accepted and ignored.
  void require_effect() const {
    for (const OptionInfo& info : entry_.options.all()) {
      if (!info.idle || !is_given(info)) continue;
      const std::string reason = info.idle();
      if (!reason.empty())
        throw UsageError(fmt::format("{} has no effect: {}", info.long_name(), reason));
    }
  }

 private:
  bool is_given(const OptionInfo& info) const {
    return std::any_of(given_.begin(), given_.end(),
                       [&](const auto& entry) { return entry.first == &info; });
  }

  const OptionInfo* find(const std::string& name) const {
    for (const OptionInfo& info : entry_.options.all()) {
      if (!info.is_argument() &&
          std::find(info.names.begin(), info.names.end(), name) != info.names.end())
        return &info;
    }
    return nullptr;
  }

  // "--name", "--name=value", "-x" or "-xvalue".
  void take_option(const std::string& word) {
    const std::size_t end = word.starts_with("--") ? word.find('=') : std::string::npos;
    const OptionInfo* info = find(word.substr(0, end));
    if (info != nullptr && end != std::string::npos) {
      if (info->is_flag()) throw UsageError(fmt::format("{} takes no value", info->long_name()));
      given_.emplace_back(info, word.substr(end + 1));
    } else if (info != nullptr) {
      given_.emplace_back(info, info->is_flag() ? "" : next_value(word));
    } else if (info = find(word.substr(0, 2));
               info != nullptr && !info->is_flag() && !word.starts_with("--") && word.size() > 2) {
      given_.emplace_back(info, word.substr(2));
    } else {
      refuse_libsvm_letter(entry_.command->name(), word);
      fail_unknown("option", word.substr(0, end), long_names(),
                   fmt::format("tamis {} --help", entry_.command->name()));
    }
  }

  // A value may begin with a dash, as -1; the name of an option is no value.
  std::string next_value(const std::string& option) {
    if (next_ == words_.size() || find(words_[next_]) != nullptr || is_help(words_[next_]))
      throw UsageError(fmt::format("{} needs a value", option));
    return words_[next_++];
  }

  void take_argument(const std::string& word) {
    // Where there is an output, a further file is one that is there: LIBSVM's programs have their
    // output in this place.
    if (taken_ == arguments_.size() && taken_ > 0 && arguments_.back()->repeatable &&
        (find("-o") == nullptr || may_be_input(word))) {
      given_.emplace_back(arguments_.back(), word);
      return;
    }
    if (taken_ == arguments_.size()) {
      throw UsageError(fmt::format(
          "{} does not take another argument: '{}'{}", entry_.command->name(), word,
          find("-o") != nullptr ? fmt::format("; for the output file use -o {}", word) : ""));
    }
    given_.emplace_back(arguments_[taken_++], word);
  }

  // Short names are left out: every letter is near to every other.
  std::vector<std::string> long_names() const {
    std::vector<std::string> names = {"--help"};
    for (const OptionInfo& info : entry_.options.all()) {
      if (info.long_name().starts_with("--")) names.push_back(info.long_name());
    }
    return names;
  }

  const CommandEntry& entry_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  bool ended_ = false;
  std::vector<const OptionInfo*> arguments_;
  std::size_t taken_ = 0;
  std::vector<std::pair<const OptionInfo*, std::string>> given_;
};

const CommandEntry& find_command(const std::vector<CommandEntry>& commands,
                                 const std::string& name) {
  std::vector<std::string> known;
  for (const CommandEntry& entry : commands) {
    if (entry.command->name() == name) return entry;
    if (!entry.command->hidden()) known.push_back(entry.command->name());
  }
  if (is_option(name)) fail_unknown("option", name, {"--help", "--version"}, "tamis --help");
  if (name.empty()) throw UsageError(fmt::format("give a command: {}", join_names(known)));
  if (const std::string_view ours = command_like(name); !ours.empty())
    throw UsageError(fmt::format("{} is a program of LIBSVM; use tamis {}", name, ours));
  fail_unknown("command", name, known, "tamis --help");
}

// The method named after --help, if there is one.
std::string help_topic(const CommandEntry& entry, const std::vector<std::string>& words,
                       std::size_t help) {
  if (!has_method_options(entry) || help + 1 >= words.size()) return "";
  const std::string& word = words[help + 1];
  const std::vector<std::string_view> known = method_names();
  const bool is_method =
      word == kAutoMethod || std::find(known.begin(), known.end(), word) != known.end();
  return is_method ? word : "";
}

}  // namespace

Parsed parse_command_line(const std::vector<CommandEntry>& commands, int argc,
                          const char* const* argv) {
  std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  if (given.empty()) return {Request::begin, nullptr, ""};
  if (given.front() == "help") {  // `tamis help train` is `tamis train --help`
    given.erase(given.begin());
    given.insert(given.begin() + std::min<std::ptrdiff_t>(1, std::ssize(given)), "--help");
  }
  const std::string& first = given.front();
  if (first == "--version" || first == "version") return {Request::version, nullptr, ""};
  if (is_help(first)) return {Request::help, nullptr, ""};
  const CommandEntry& entry = find_command(commands, first);
  refuse_shrinking_switch(given);
  std::vector<std::string> words = join_class_weights(given);
  words.erase(words.begin());
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto help = std::find_if(words.begin(), end, is_help);
  if (help != end) {
    const auto place = static_cast<std::size_t>(help - words.begin());
    return {Request::help, &entry, help_topic(entry, words, place)};
  }
  CommandLine line(entry, std::move(words));
  line.split();
  line.require_all();
  line.assign();
  line.require_effect();
  return {Request::run, &entry, ""};
}

}  // namespace tamis::cli

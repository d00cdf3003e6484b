#include "help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "tamis/methods.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 26;  // where the texts of options begin

// Words of `text` in lines up to kWidth, each starting at `column`; the first line is already
// there.
std::string wrapped(const std::string& text, std::size_t column) {
  std::string out;
  std::size_t used = column;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (used > column && used + 1 + word.size() > kWidth) {
      out += '\n' + std::string(column, ' ');
      used = column;
    } else if (used > column) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
  }
  return out;
}

std::string entry_lines(const std::string& left, const std::string& text) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn)
    out += '\n' + std::string(kColumn, ' ');
  else
    out.resize(kColumn, ' ');
  return out + wrapped(text, kColumn) + '\n';
}

// Effect, range, choices and default.
std::string full_help(const OptionInfo& info) {
  std::string text = info.help;
  const bool is_digit = info.choices == std::vector<std::string>{"0", "1"};
  if (!info.range.empty()) text += fmt::format("; {}", info.range);
  if (!info.choices.empty() && !is_digit)
    text += fmt::format("; {} {}", info.value == "NAME" ? "one of" : "or",
                        fmt::join(info.choices, ", "));
  if (info.default_text.empty()) return text;
  text += fmt::format(" (default: {}", info.default_text);
  return text + (info.default_help.empty() ? ")" : fmt::format("; {})", info.default_help));
}

std::string left_side(const OptionInfo& info) {
  std::string text;
  for (const std::string& name : info.names) text += (text.empty() ? "" : ", ") + name;
  return info.is_argument() || info.is_flag() ? text : text + " " + info.value;
}

}  // namespace

std::string beginning_text() {
  return "tamis - kernel support vector machines for large data\n\n"
         "To begin, with your data as svmlight/LIBSVM text, CSV or a NumPy array:\n"
         "  tamis check train.csv                 what is in it, and what to fix\n"
         "  tamis train train.csv --method auto   scaling, parameters and method by trials\n"
         "  tamis predict train.csv.model new.csv -o labels.txt\n"
         "  tamis evaluate train.csv.model test.csv\n\n"
         "Without data:\n"
         "  tamis generate checkerboard --rows 10000 -o train.svm\n\n"
         "tamis --help lists all commands, tamis COMMAND --help the options of one.\n";
}

std::string program_help() {
  std::string out =
      "tamis - kernel support vector machines for large data\n\n"
      "Usage: tamis COMMAND [OPTIONS]\n\nCommands:\n";
  for (const CommandEntry& entry : all_commands()) {
    if (!entry.command->hidden())
      out += entry_lines(entry.command->name(), entry.command->summary());
  }
  out += "\nOptions:\n";
  out += entry_lines("-h, --help", "this text; tamis COMMAND --help for a command");
  out += entry_lines("--version", "print the version");
  out +=
      "\nExit codes: 0 ok, 1 data or run-time error, 2 wrong usage, 3 stopped by a limit\n"
      "or not certified, 130 interrupted.\n\nExample:\n"
      "  tamis generate checkerboard --rows 10000 -o train.svm\n"
      "  tamis check train.svm\n";
  return out;
}

namespace {

// `method`: only options that it uses; empty: all.
std::string section_lines(const CommandEntry& entry, OptionSection section,
                          std::string_view method = {}) {
  std::string lines;
  for (const OptionInfo& info : entry.options.all()) {
    const bool used =
        method.empty() || info.described == nullptr || applies_to(*info.described, method);
    if (!info.is_argument() && info.section == section && used)
      lines += entry_lines(left_side(info), full_help(info));
  }
  return lines;
}

std::string titled(const std::string& title, const std::string& lines) {
  return lines.empty() ? "" : "\n" + title + ":\n" + lines;
}

// The methods of training, for commands that have options of them.
std::string method_lines(const CommandEntry& entry) {
  if (!has_method_options(entry)) return "";
  std::string lines;
  for (const MethodInfo& method : methods())
    lines += entry_lines(std::string(method.name), std::string(method.summary));
  lines += entry_lines(std::string(kAutoMethod), std::string(kAutoSummary));
  return lines + fmt::format("  tamis {} --help METHOD lists the options of a method.\n",
                             entry.command->name());
}

std::string usage_line(const CommandEntry& entry) {
  std::string usage = "Usage: tamis " + entry.command->name();
  for (const OptionInfo& info : entry.options.all()) {
    if (info.is_argument())
      usage += info.required ? " " + info.argument_text() : " [" + info.value + "]";
  }
  return usage + " [OPTIONS]\n";
}

std::string example_lines(const CommandEntry& entry) {
  std::string lines;
  std::istringstream examples(entry.options.example());
  for (std::string line; std::getline(examples, line);) lines += "  " + line + "\n";
  return lines;
}

}  // namespace

bool has_method_options(const CommandEntry& entry) {
  return std::any_of(entry.options.all().begin(), entry.options.all().end(),
                     [](const auto& info) { return info.section == OptionSection::method; });
}

std::string command_help(const CommandEntry& entry) {
  std::string arguments;
  for (const OptionInfo& info : entry.options.all()) {
    if (info.is_argument()) arguments += entry_lines(info.argument_text(), full_help(info));
  }
  return "tamis " + entry.command->name() + " - " + entry.command->summary() + "\n\n" +
         usage_line(entry) + titled("Arguments", arguments) +
         titled("Options", section_lines(entry, OptionSection::command) +
                               entry_lines("-h, --help", "this text")) +
         titled("Training", section_lines(entry, OptionSection::training)) +
         titled("Kernel", section_lines(entry, OptionSection::kernel)) +
         titled("Methods", method_lines(entry)) +
         titled("Reading and running", section_lines(entry, OptionSection::common)) +
         titled("Example", example_lines(entry));
}

std::string method_help(const CommandEntry& entry, std::string_view method) {
  std::string_view summary = kAutoSummary;
  for (const MethodInfo& known : methods()) {
    if (known.name == method) summary = known.summary;
  }
  return wrapped(fmt::format("{} - {}", method, summary), 0) + "\n\n" + usage_line(entry) +
         titled(fmt::format("Options of {}", method),
                section_lines(entry, OptionSection::method, method)) +
         titled("Training", section_lines(entry, OptionSection::training, method)) +
         titled("Kernel", section_lines(entry, OptionSection::kernel, method)) +
         fmt::format("\nSee also: tamis {} --help\n", entry.command->name());
}

namespace {

// roff: a backslash and a dash at any place, and a dot or quote at the start of a line, mean
// something.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string man_option(const OptionInfo& info) {
  std::string names;
  for (const std::string& name : info.names)
    names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (info.is_argument()) names = "\\fI" + roff(info.value) + "\\fR";
  if (!info.is_argument() && !info.is_flag()) names += " \\fI" + roff(info.value) + "\\fR";
  return ".TP\n" + names + "\n" + roff(full_help(info)) + "\n";
}

std::string man_head(const std::string& page, const std::string& summary) {
  std::string upper = page;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return ".TH " + roff(upper) + " 1\n.SH NAME\n" + roff(page) + " \\- " + roff(summary) + "\n";
}

std::string man_example(const std::string& lines) {
  return ".SH EXAMPLE\n.nf\n" + roff(lines) + (lines.ends_with('\n') ? "" : "\n") + ".fi\n";
}

constexpr const char* kManExit =
    ".SH EXIT STATUS\n0 ok, 1 data or run\\-time error, 2 wrong usage, 3 stopped by a limit with a "
    "usable result or not certified, 130 interrupted.\n";

}  // namespace

std::string program_man_page() {
  std::string out = man_head("tamis", "kernel support vector machines for large data");
  out += ".SH SYNOPSIS\n\\fBtamis\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  std::string also;
  for (const CommandEntry& entry : all_commands()) {
    if (entry.command->hidden()) continue;
    out += ".TP\n\\fB" + roff(entry.command->name()) + "\\fR\n" + roff(entry.command->summary()) +
           "\n";
    also += (also.empty() ? "" : ", ") + std::string("\\fBtamis\\-") + entry.command->name() +
            "\\fR(1)";
  }
  out += ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint help\n";
  out += ".TP\n\\fB\\-\\-version\\fR\nprint the version\n";
  return out + kManExit + ".SH SEE ALSO\n" + also + "\n";
}

std::string command_man_page(const CommandEntry& entry) {
  const std::string& name = entry.command->name();
  std::string out = man_head("tamis-" + name, entry.command->summary());
  out += ".SH SYNOPSIS\n\\fBtamis " + roff(name) + "\\fR";
  for (const OptionInfo& info : entry.options.all()) {
    if (!info.is_argument()) continue;
    out +=
        info.required ? " \\fI" + info.argument_text() + "\\fR" : " [\\fI" + info.value + "\\fR]";
  }
  out += " [\\fIOPTIONS\\fR]\n.SH OPTIONS\n";
  for (const OptionInfo& info : entry.options.all()) out += man_option(info);
  out += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint help\n";
  return out + man_example(entry.options.example()) + kManExit + ".SH SEE ALSO\n\\fBtamis\\fR(1)\n";
}

}  // namespace tamis::cli

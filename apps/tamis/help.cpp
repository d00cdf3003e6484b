#include "help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace tamis::cli {
namespace {

constexpr std::size_t kWidth = 96;
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

std::string full_help(const OptionInfo& info) {
  std::string text = info.help;
  if (!info.choices.empty() && info.choices != std::vector<std::string>{"0", "1"})
    text += fmt::format("; one of {}", fmt::join(info.choices, ", "));
  if (!info.default_text.empty()) text += " (default " + info.default_text + ")";
  return text;
}

std::string left_side(const OptionInfo& info) {
  std::string text;
  for (const std::string& name : info.names) text += (text.empty() ? "" : ", ") + name;
  return info.is_argument() || info.is_flag() ? text : text + " " + info.value;
}

}  // namespace

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

std::string command_help(const CommandEntry& entry) {
  std::string usage = "Usage: tamis " + entry.command->name();
  std::string arguments;
  std::string options;
  for (const OptionInfo& info : entry.options.all()) {
    if (info.is_argument()) {
      usage += info.required ? " " + info.value : " [" + info.value + "]";
      arguments += entry_lines(info.value, full_help(info));
    } else {
      options += entry_lines(left_side(info), full_help(info));
    }
  }
  std::string out = "tamis " + entry.command->name() + " - " + entry.command->summary() + "\n\n" +
                    usage + " [OPTIONS]\n";
  if (!arguments.empty()) out += "\nArguments:\n" + arguments;
  out += "\nOptions:\n" + options + entry_lines("-h, --help", "this text");
  if (entry.options.example().empty()) return out;
  out += "\nExample:\n";
  std::istringstream lines(entry.options.example());
  for (std::string line; std::getline(lines, line);) out += "  " + line + "\n";
  return out;
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
    out += info.required ? " \\fI" + info.value + "\\fR" : " [\\fI" + info.value + "\\fR]";
  }
  out += " [\\fIOPTIONS\\fR]\n.SH OPTIONS\n";
  for (const OptionInfo& info : entry.options.all()) out += man_option(info);
  out += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint help\n";
  return out + man_example(entry.options.example()) + kManExit + ".SH SEE ALSO\n\\fBtamis\\fR(1)\n";
}

}  // namespace tamis::cli

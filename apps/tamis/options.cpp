#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
    comma = names.find(',', begin);
    parts.push_back(names.substr(begin, comma - begin));
  }
  return parts;
}

// The whole text as a finite number, or NaN.
double whole_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) return std::nan("");
  return value;
}

template <typename T>
std::string range_text(T low, T high, bool open_above) {
  return open_above ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
}

void require_choice(const std::string& option, const std::string& text,
                    const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return;
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view nearest = nearest_name(text, views);
  throw UsageError(fmt::format("{} is '{}'{}; there are {}", option, text,
                               nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                               join_names(known)));
}

}  // namespace

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,=+@%^-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string reading_words(const ReadOptions& read) {
  std::string words;
  if (read.format != DataFormat::automatic) {
    words += read.format == DataFormat::svmlight ? " --format svmlight"
             : read.format == DataFormat::csv    ? " --format csv"
             : read.format == DataFormat::csr    ? " --format csr"
                                                 : " --format npy";
  }
  if (read.index_base != 1) words += fmt::format(" --index-base {}", read.index_base);
  if (!read.label_column.empty()) words += " --label " + shell_word(read.label_column);
  if (read.labels_as_text) words += " --text-labels";
  if (!read.weight_column.empty()) words += " --weight " + shell_word(read.weight_column);
  if (!read.labels_path.empty()) words += " --labels " + shell_word(read.labels_path);
  for (const std::string& file : read.more_files) words += " " + shell_word(file);
  return words;
}

std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t low,
                           std::int64_t high) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  bool whole = error == std::errc() && rest == end;
  if (!whole) {
    const double real = whole_number(text);
    whole = std::abs(real) <= 0x1p53 && std::floor(real) == real;
    if (whole) value = static_cast<std::int64_t>(real);
  }
  if (whole && value >= low && value <= high) return value;
  throw UsageError(fmt::format("{} is '{}': give a whole number, {}", option, text,
                               range_text(low, high, high == kMost)));
}

double parse_real(const std::string& option, const std::string& text, double low, double high) {
  const double value = whole_number(text);
  if (value >= low && value <= high) return value;
  if (low == -kInfinity && high == kInfinity)
    throw UsageError(fmt::format("{} is '{}': give a number", option, text));
  throw UsageError(fmt::format("{} is '{}': give a number, {}", option, text,
                               range_text(low, high, high == kInfinity)));
}

OptionInfo& Options::add(const std::string& names, const std::string& value,
                         const std::string& help) {
  OptionInfo info;
  info.names = split_names(names);
  info.value = value;
  info.help = help;
  all_.push_back(std::move(info));
  return all_.back();
}

OptionInfo& Options::flag(const std::string& names, bool& variable, const std::string& help) {
  OptionInfo& info = add(names, "", help);
  info.assign = [&variable](const std::string&) { variable = true; };
  return info;
}

OptionInfo& Options::text(const std::string& names, std::string& variable, const std::string& value,
                          const std::string& help) {
  OptionInfo& info = add(names, value, help);
  info.default_text = variable;
  info.assign = [&variable, name = info.long_name()](const std::string& text) {
    if (text.empty()) throw UsageError(fmt::format("{} is empty", name));
    variable = text;
  };
  return info;
}

OptionInfo& Options::output(const std::string& names, std::string& variable,
                            const std::string& help) {
  OptionInfo& info = text(names, variable, "FILE", help);
  info.assign = [assign = info.assign](const std::string& path) {
    assign(path == "/dev/stdout" ? "-" : path);
  };
  return info;
}

OptionInfo& Options::integer(const std::string& names, std::int64_t& variable, std::int64_t low,
                             std::int64_t high, const std::string& value, const std::string& help) {
  OptionInfo& info = add(names, value, help);
  info.default_text = fmt::format("{}", variable);
  info.assign = [&variable, low, high, name = info.long_name()](const std::string& text) {
    variable = parse_integer(name, text, low, high);
  };
  return info;
}

OptionInfo& Options::number(const std::string& names, double& variable, double low, double high,
                            const std::string& value, const std::string& help) {
  OptionInfo& info = add(names, value, help);
  info.default_text = fmt::format("{}", variable);
  info.assign = [&variable, low, high, name = info.long_name()](const std::string& text) {
    variable = parse_real(name, text, low, high);
  };
  return info;
}

OptionInfo& Options::bytes(const std::string& names, std::int64_t& variable,
                           const std::string& help) {
  OptionInfo& info = add(names, "SIZE", help);
  info.assign = [&variable, name = info.long_name()](const std::string& text) {
    try {
      variable = parse_bytes(text);
    } catch (const InvalidArgument& error) {
      throw UsageError(fmt::format("{}: {}", name, error.what()));
    }
  };
  return info;
}

OptionInfo& Options::choice(const std::string& names, std::string& variable,
                            std::vector<std::string> choices, const std::string& value,
                            const std::string& help) {
  OptionInfo& info = add(names, value, help);
  info.default_text = variable;
  info.choices = std::move(choices);
  info.assign = [&variable, known = info.choices,
                 name = info.long_name()](const std::string& text) {
    require_choice(name, text, known);
    variable = text;
  };
  return info;
}

OptionInfo& Options::custom(const std::string& names, const std::string& value,
                            const std::string& help,
                            std::function<void(const std::string&)> assign) {
  OptionInfo& info = add(names, value, help);
  info.assign = std::move(assign);
  return info;
}

OptionInfo& Options::rows(const std::string& names, std::optional<std::int64_t>& variable,
                          const std::string& help, const std::string& automatic_help) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  OptionInfo& info = add(names, "N", help);
  info.choices = {"all"};
  info.range = "at least 1";
  info.assign = [&variable, name = info.long_name()](const std::string& text) {
    variable = text == "all" ? kMost : parse_integer(name, text, 1, kMost);
  };
  automatic(info, automatic_help, [&variable] { variable.reset(); });
  return info;
}

OptionInfo& Options::format(const std::string& names, DataFormat& variable,
                            const std::string& help) {
  OptionInfo& info = add(names, "NAME", help);
  info.choices = {"svmlight", "csv", "npy", "csr"};
  info.assign = [&variable, known = info.choices,
                 name = info.long_name()](const std::string& text) {
    require_choice(name, text, known);
    variable = text == "svmlight" ? DataFormat::svmlight
               : text == "csv"    ? DataFormat::csv
               : text == "csr"    ? DataFormat::csr
                                  : DataFormat::npy;
  };
  return info;
}

OptionInfo& Options::index_base(const std::string& names, int& variable, const std::string& help) {
  OptionInfo& info = add(names, "N", help);
  info.default_text = fmt::format("{}", variable);
  info.choices = {"0", "1"};
  info.assign = [&variable, name = info.long_name()](const std::string& text) {
    variable = static_cast<int>(parse_integer(name, text, 0, 1));
  };
  return info;
}

OptionInfo& Options::argument(const std::string& name, std::string& variable, bool required,
                              const std::string& help) {
  OptionInfo& info = text(name, variable, name, help);
  info.required = required;
  return info;
}

OptionInfo& Options::data(const std::string& name, std::string& variable, ReadOptions& read,
                          const std::string& help) {
  OptionInfo& info = argument(name, variable, true,
                              help +
                                  "; several files, or a pattern in quotes such as 'part-*.svm', "
                                  "are read as one");
  info.repeatable = true;
  info.assign = [&variable, &read](const std::string& text) {
    if (variable.empty())
      variable = text;
    else
      read.more_files.push_back(text);
  };
  return info;
}

void Options::common(CommonOptions& common) {
  const std::size_t first = all_.size();
  automatic(integer("--threads", common.threads, 1, 4096, "N", "number of threads"),
            "all that this process may use", [&common] { common.threads = 0; });
  automatic(bytes("--memory", common.memory_bytes, "memory budget, for example 500M or 4G"),
            "80 % of the free memory", [&common] { common.memory_bytes = 0; });
  automatic(text("--scratch", common.scratch_folder, "FOLDER",
                 "folder for temporary files where the memory budget is too small"),
            "$TMPDIR, or /var/tmp", [&common] { common.scratch_folder.clear(); });
  flag("-q,--quiet", common.quiet, "only results and errors: no progress, remarks or summary");
  output("--json", common.json_path,
         "write a report with times as one JSON object; - writes it to standard output, instead of "
         "the text");
  move_to_common(first);
}

void Options::automatic(OptionInfo& info, const std::string& meaning,
                        const std::function<void()>& reset) {
  info.default_text = "automatic";
  info.default_help = meaning;
  info.assign = [reset, assign = info.assign](const std::string& text) {
    if (text == "automatic")
      reset();
    else
      assign(text);
  };
}

void Options::move_to_common(std::size_t first) {
  for (std::size_t i = first; i < all_.size(); ++i) all_[i].section = OptionSection::common;
}

void Options::reading(ReadOptions& read) {
  const std::size_t first = all_.size();
  format("--format", read.format, "format of DATA (default: by the ending of the name)");
  index_base("--index-base", read.index_base, "svmlight: number of the first feature, 0 or 1");
  text("--label", read.label_column, "COLUMN",
       "csv: label column, by name or by number from 1 (default: a column called label, class, "
       "target or y, otherwise the last); none: no labels, in any format");
  flag("--text-labels", read.labels_as_text,
       "read all labels as text (default: numbers, or text if at least half of them are not "
       "numbers)");
  text("--weight", read.weight_column, "COLUMN",
       "csv: column of row weights, by name or by number");
  text("--labels", read.labels_path, "FILE",
       "npy: label file (default: X.labels.npy or X_labels.npy next to X.npy)");
  move_to_common(first);
}

}  // namespace tamis::cli

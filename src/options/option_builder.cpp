#include "options/option_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "tamis/error.hpp"

namespace tamis {
namespace {

[[noreturn]] void fail_type(std::string_view name, const OptionValue& value,
                            std::string_view wanted) {
  struct Show {
    std::string operator()(std::monostate) const { return "automatic"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& word) const { return fmt::format("'{}'", word); }
    std::string operator()(const std::vector<double>&) const { return "a list"; }
    std::string operator()(const LabelNumbers&) const { return "a list by label"; }
  };
  throw InvalidArgument(fmt::format("{} is {}: give {}", name, std::visit(Show{}, value), wanted));
}

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc() && end == last && first != last) return value;
  return std::nullopt;
}

// The next item of a list, which is cut off.
std::string_view next_item(std::string_view& text) {
  const std::string_view item = text.substr(0, text.find(','));
  text.remove_prefix(std::min(text.size(), item.size() + 1));
  return item;
}

double parse_number(const OptionDescription& option, std::string_view text) {
  if (const auto number = parse_whole<double>(text)) return *number;
  fail_type(option.name, std::string(text), "a number");
}

std::vector<double> parse_numbers(const OptionDescription& option, std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) numbers.push_back(parse_number(option, next_item(text)));
  return numbers;
}

// "label:number,label:number"; a label may contain colons, a number cannot. An item without a colon
// is the number for all labels.
LabelNumbers parse_labels(const OptionDescription& option, std::string_view text) {
  LabelNumbers list;
  do {
    const std::string_view item = next_item(text);
    const std::size_t colon = item.rfind(':');
    if (colon == std::string_view::npos)
      list.emplace_back("", parse_number(option, item));
    else
      list.emplace_back(item.substr(0, colon), parse_number(option, item.substr(colon + 1)));
  } while (!text.empty());
  return list;
}

OptionValue parse(const OptionDescription& option, std::string_view text) {
  if (!option.unset.empty() && text == option.unset) return {};
  if (std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end())
    return std::string(text);
  switch (option.type) {
    case OptionType::flag:
      if (text.empty() || text == "true" || text == "yes") return true;
      if (text == "false" || text == "no") return false;
      fail_type(option.name, std::string(text), "true or false");
    case OptionType::integer:
      if (const auto number = parse_whole<std::int64_t>(text)) return *number;
      fail_type(option.name, std::string(text), "a whole number");
    case OptionType::number:
      return parse_number(option, text);
    case OptionType::choice:
      return std::string(text);
    case OptionType::numbers:
      return parse_numbers(option, text);
    case OptionType::labels:
      return parse_labels(option, text);
  }
  return {};
}

}  // namespace

bool Range::contains(double value) const {
  if (!std::isfinite(value)) return false;
  return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

std::string Range::text() const {
  if (std::isinf(low) && std::isinf(high)) return "";
  constexpr double kNoRealLimit = 1e9;  // of counts: nobody reaches it
  if (!low_open && high == kNoRealLimit) return fmt::format("at least {}", low);
  std::string from = fmt::format("{} {}", low_open ? "greater than" : "at least", low);
  if (std::isinf(high)) return from;
  if (!low_open && !high_open) return fmt::format("{} to {}", low, high);
  return fmt::format("{} and {} {}", from, high_open ? "less than" : "at most", high);
}

double number_of(std::string_view name, const OptionValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  fail_type(name, value, "a number");
}

std::int64_t integer_of(std::string_view name, const OptionValue& value, std::int64_t low,
                        std::int64_t high) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) fail_type(name, value, "a whole number");
  if (*number < low || *number > high)
    throw InvalidArgument(fmt::format("{} is {}: it must be {} to {}", name, *number, low, high));
  return *number;
}

bool flag_of(std::string_view name, const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  fail_type(name, value, "true or false");
}

const std::string& word_of(std::string_view name, const OptionValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  fail_type(name, value, "a name");
}

std::vector<double> numbers_of(std::string_view name, const OptionValue& value) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  fail_type(name, value, "a list of numbers");
}

const LabelNumbers& labels_of(std::string_view name, const OptionValue& value) {
  if (const auto* labels = std::get_if<LabelNumbers>(&value)) return *labels;
  fail_type(name, value, "label:number, for example -1:5");
}

void require_in(const Range& range, std::string_view name, double value, std::string_view unset) {
  if (range.contains(value)) return;
  const std::string text = range.text();
  throw InvalidArgument(fmt::format("{} is {}: it must be finite{}{}{}{}", name, value,
                                    text.empty() ? "" : ", ", text, unset.empty() ? "" : ", or ",
                                    unset));
}

void fail_choice(std::string_view name, std::string_view text,
                 const std::vector<std::string_view>& choices) {
  throw InvalidArgument(
      fmt::format("{} is '{}': it must be one of {}", name, text, fmt::join(choices, ", ")));
}

OptionDescription describe(const OptionText& text) {
  OptionDescription option;
  option.name = text.name;
  option.letter = text.letter;
  option.help = text.help;
  return option;
}

OptionDescription describe_flag(const OptionText& text, StoredAt<bool> field) {
  OptionDescription option = describe(text);
  option.type = OptionType::flag;
  option.set = [name = text.name, field](TrainOptions& options, const OptionValue& value) {
    field.of(options) = flag_of(name, value);
  };
  option.get = [field](const TrainOptions& options) -> OptionValue { return field.read(options); };
  option.check = [](const TrainOptions&) {};
  return option;
}

OptionDescription describe_numbers(const OptionText& text, StoredAt<std::vector<double>> field,
                                   const Range& range) {
  OptionDescription option = describe(text);
  option.type = OptionType::numbers;
  option.value = "NUMBER,..";
  option.range = range.text();
  option.set = [name = text.name, field](TrainOptions& options, const OptionValue& value) {
    field.of(options) = numbers_of(name, value);
  };
  option.get = [field](const TrainOptions& options) -> OptionValue { return field.read(options); };
  option.check = [name = text.name, field, range](const TrainOptions& options) {
    if (field.read(options).empty()) fail_choice(name, "empty", {"one or more numbers"});
    for (const double number : field.read(options)) require_in(range, name, number);
  };
  return option;
}

void OptionDescription::set_text(TrainOptions& options, std::string_view text) const {
  set(options, parse(*this, text));
}

std::string OptionDescription::text(const TrainOptions& options) const {
  struct Write {
    std::string_view unset;
    std::string operator()(std::monostate) const { return std::string(unset); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& word) const { return word; }
    std::string operator()(const std::vector<double>& numbers) const {
      return fmt::format("{}", fmt::join(numbers, ","));
    }
    std::string operator()(const LabelNumbers& labels) const {
      std::string list;
      for (const auto& [label, number] : labels) {
        list += list.empty() ? "" : ",";
        list += label.empty() ? fmt::format("{}", number) : fmt::format("{}:{}", label, number);
      }
      return list;
    }
  };
  return std::visit(Write{unset}, get(options));
}

}  // namespace tamis

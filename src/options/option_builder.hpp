// How the usual kinds of training options are described: a number, a list of numbers, one of a few
// names. A description names its field once; type, text, range check and typed access follow from
// the field's type.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/options.hpp"

namespace tamis {

/// The numbers an option may have.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  bool contains(double value) const;
  /// "greater than 0 and at most 1".
  std::string text() const;
};
constexpr Range any_number() { return {}; }
constexpr Range above(double low) {
  return {low, std::numeric_limits<double>::infinity(), true, false};
}
constexpr Range at_least(double low) {
  return {low, std::numeric_limits<double>::infinity(), false, false};
}
constexpr Range between(double low, double high) { return {low, high, false, false}; }
constexpr Range above_up_to(double low, double high) { return {low, high, true, false}; }
constexpr Range from_below(double low, double high) { return {low, high, false, true}; }

/// Name, LIBSVM's letter and help of an option.
struct OptionText {
  std::string_view name;
  std::string_view letter;
  std::string_view help;
};

/// What an empty value is called, and what it means.
struct Unset {
  std::string_view word = "automatic";
  std::string_view meaning;
};

/// An option with its name, letter and help; the rest is empty.
OptionDescription describe(const OptionText& text);

// From values of the public types to those of fields. Each throws InvalidArgument with `name`.
double number_of(std::string_view name, const OptionValue& value);
std::int64_t integer_of(std::string_view name, const OptionValue& value, std::int64_t low,
                        std::int64_t high);
bool flag_of(std::string_view name, const OptionValue& value);
const std::string& word_of(std::string_view name, const OptionValue& value);
std::vector<double> numbers_of(std::string_view name, const OptionValue& value);
const LabelNumbers& labels_of(std::string_view name, const OptionValue& value);

/// Throws InvalidArgument unless `value` is finite and in the range; `unset` is named as allowed.
void require_in(const Range& range, std::string_view name, double value,
                std::string_view unset = "");
/// Throws InvalidArgument: the value is not one of the choices.
[[noreturn]] void fail_choice(std::string_view name, std::string_view text,
                              const std::vector<std::string_view>& choices);

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename Number>
Number convert_number(std::string_view name, const OptionValue& value) {
  if constexpr (std::is_integral_v<Number>) {
    constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
    constexpr bool kWide = sizeof(Number) == sizeof(std::int64_t);
    return static_cast<Number>(integer_of(
        name, value, std::is_signed_v<Number> ? std::numeric_limits<Number>::min() : 0,
        kWide ? kHighest : static_cast<std::int64_t>(std::numeric_limits<Number>::max())));
  } else {
    return number_of(name, value);
  }
}

template <typename Number>
OptionValue number_value(Number number) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<std::int64_t>(number);
  else
    return static_cast<double>(number);
}

/// Where an option is stored. Pointers to functions, not the lambdas they come from: what describes
/// an option is compiled once per type, not once per option.
template <typename Stored>
struct StoredAt {
  Stored& (*of)(TrainOptions&);
  const Stored& (*read)(const TrainOptions&);
};

/// `field(options)` gives a reference, const where `options` is. It holds nothing, so that another
/// one can be made where it is called: clang 14 does not turn a lambda that returns auto& into a
/// pointer to a function that returns a reference to const.
template <typename Field>
auto stored_at(Field field) {
  using Stored = std::remove_reference_t<decltype(field(std::declval<TrainOptions&>()))>;
  return StoredAt<Stored>{
      [](TrainOptions& options) -> Stored& { return Field()(options); },
      [](const TrainOptions& options) -> const Stored& { return Field()(options); }};
}

template <typename Stored>
OptionDescription describe_number(const OptionText& text, StoredAt<Stored> field,
                                  const Range& range, const Unset& unset) {
  constexpr bool kOptional = IsOptional<Stored>::value;
  using Number = typename std::conditional_t<kOptional, Stored, std::optional<Stored>>::value_type;
  OptionDescription option = describe(text);
  option.type = std::is_integral_v<Number> ? OptionType::integer : OptionType::number;
  option.value = "NUMBER";
  option.range = range.text();
  if (kOptional) {
    option.unset = unset.word;
    option.default_help = unset.meaning;
  }
  option.set = [name = text.name, field](TrainOptions& options, const OptionValue& value) {
    if constexpr (kOptional) {
      if (std::holds_alternative<std::monostate>(value)) {
        field.of(options) = std::nullopt;
        return;
      }
    }
    field.of(options) = convert_number<Number>(name, value);
  };
  option.get = [field](const TrainOptions& options) -> OptionValue {
    const auto& stored = field.read(options);
    if constexpr (kOptional) {
      return stored ? number_value(*stored) : OptionValue();
    } else {
      return number_value(stored);
    }
  };
  option.check = [name = text.name, field, range,
                  word = option.unset](const TrainOptions& options) {
    const std::optional<Number> stored = field.read(options);
    if (stored) require_in(range, name, static_cast<double>(*stored), word);
  };
  return option;
}

/// A number or an optional number; `field(options)` gives a reference to it.
template <typename Field>
OptionDescription number_option(const OptionText& text, Field field, const Range& range,
                                const Unset& unset = {}) {
  return describe_number(text, stored_at(field), range, unset);
}

template <typename Value, typename Stored>
OptionDescription describe_choice(const OptionText& text, StoredAt<Stored> field,
                                  std::vector<std::pair<std::string_view, Value>> values) {
  OptionDescription option = describe(text);
  option.type = OptionType::choice;
  option.value = "NAME";
  for (const auto& entry : values) option.choices.push_back(entry.first);
  option.set = [name = text.name, field, values, choices = option.choices](
                   TrainOptions& options, const OptionValue& value) {
    const std::string& word = word_of(name, value);
    for (const auto& [known, stored] : values) {
      if (known != word) continue;
      field.of(options) = stored;
      return;
    }
    fail_choice(name, word, choices);
  };
  option.get = [field, values](const TrainOptions& options) -> OptionValue {
    for (const auto& [known, stored] : values) {
      if (field.read(options) == stored) return std::string(known);
    }
    return {};
  };
  option.check = [](const TrainOptions&) {};
  return option;
}

/// One of a few names; enum values, or their names themselves.
template <typename Value, typename Field>
OptionDescription choice_option(const OptionText& text, Field field,
                                std::vector<std::pair<std::string_view, Value>> values) {
  return describe_choice<Value>(text, stored_at(field), std::move(values));
}

OptionDescription describe_flag(const OptionText& text, StoredAt<bool> field);
template <typename Field>
OptionDescription flag_option(const OptionText& text, Field field) {
  return describe_flag(text, stored_at(field));
}

/// A list of numbers, one or more, each in the range.
OptionDescription describe_numbers(const OptionText& text, StoredAt<std::vector<double>> field,
                                   const Range& range);
template <typename Field>
OptionDescription numbers_option(const OptionText& text, Field field, const Range& range) {
  return describe_numbers(text, stored_at(field), range);
}

// The options that belong to a family of methods each, in the order in which help and documents
// show them. Method descriptors (src/methods/common/method.hpp) say which method uses which.
void add_common_options(std::vector<OptionDescription>& table);
void add_kernel_options(std::vector<OptionDescription>& table);
void add_linear_options(std::vector<OptionDescription>& table);
void add_sifting_options(std::vector<OptionDescription>& table);
void add_leader_options(std::vector<OptionDescription>& table);
void add_local_options(std::vector<OptionDescription>& table);
void add_ensemble_options(std::vector<OptionDescription>& table);
void add_opt_margin_options(std::vector<OptionDescription>& table);

}  // namespace tamis

// How the usual kinds of training options are described: a number, a list of numbers, one of a few
// names.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <functional>
#include <type_traits>

#include "tamis/error.hpp"
#include "tamis/options.hpp"
#include "tamis/train.hpp"

namespace tamis {

template <typename Number>
Number parse_number(std::string_view name, std::string_view text) {
  Number value{};
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc() && end == last) return value;
  throw InvalidArgument(fmt::format("{} is '{}': give a {}number", name, text,
                                    std::is_integral_v<Number> ? "whole " : ""));
}

inline std::string number_text(double value) { return fmt::format("{}", value); }

// A field that is a number.
template <typename Number>
OptionDescription number(std::string_view name, std::string_view letter,
                         Number TrainOptions::*field, std::string_view help) {
  return {name,
          letter,
          "NUMBER",
          help,
          {},
          [name, field](TrainOptions& o, std::string_view text) {
            o.*field = parse_number<Number>(name, text);
          },
          [field](const TrainOptions& o) { return fmt::format("{}", o.*field); }};
}

// What a member pointer, or a function of the options, gives a reference to.
template <typename Field>
using FieldType = std::remove_reference_t<std::invoke_result_t<Field, TrainOptions&>>;

// A field that is one of a few names.
template <typename Field>
OptionDescription choice(
    std::string_view name, std::string_view letter, Field field,
    std::type_identity_t<std::vector<std::pair<std::string_view, FieldType<Field>>>> values,
    std::string_view help, std::vector<std::string_view> methods = {}) {
  std::vector<std::string_view> names;
  names.reserve(values.size());
  for (const auto& entry : values) names.push_back(entry.first);
  const auto set = [name, field, values](TrainOptions& o, std::string_view text) {
    for (const auto& [known, value] : values) {
      if (known != text) continue;
      std::invoke(field, o) = value;
      return;
    }
    std::string all;
    for (const auto& [known, value] : values) all += (all.empty() ? "" : ", ") + std::string(known);
    throw InvalidArgument(fmt::format("{} is '{}': one of {}", name, text, all));
  };
  const auto get = [field, values](const TrainOptions& o) {
    for (const auto& [known, value] : values) {
      if (value == std::invoke(field, o)) return std::string(known);
    }
    return std::string();
  };
  return {name, letter, "NAME", help, std::move(names), set, get, std::move(methods)};
}

// A number somewhere inside the options: `field` gives a reference to it.
template <typename Field>
OptionDescription nested_number(std::string_view name, std::string_view help,
                                std::vector<std::string_view> methods, Field field) {
  using Number = std::remove_reference_t<decltype(field(std::declval<TrainOptions&>()))>;
  OptionDescription option{name,
                           "",
                           "NUMBER",
                           help,
                           {},
                           [name, field](TrainOptions& o, std::string_view text) {
                             field(o) = parse_number<Number>(name, text);
                           },
                           [field](const TrainOptions& o) {
                             TrainOptions copy = o;
                             return fmt::format("{}", field(copy));
                           }};
  option.methods = std::move(methods);
  return option;
}

// A list of numbers: "1,10,50".
template <typename Field>
OptionDescription nested_numbers(std::string_view name, std::string_view help,
                                 std::vector<std::string_view> methods, Field field) {
  OptionDescription option{name,
                           "",
                           "NUMBER,..",
                           help,
                           {},
                           [name, field](TrainOptions& o, std::string_view text) {
                             std::vector<double> values;
                             while (!text.empty()) {
                               const std::string_view item = text.substr(0, text.find(','));
                               text.remove_prefix(std::min(text.size(), item.size() + 1));
                               values.push_back(parse_number<double>(name, item));
                             }
                             field(o) = std::move(values);
                           },
                           [field](const TrainOptions& o) {
                             TrainOptions copy = o;
                             return fmt::format("{}", fmt::join(field(copy), ","));
                           }};
  option.methods = std::move(methods);
  return option;
}

// "label:factor,label:factor"
inline std::string label_list_text(const std::vector<std::pair<std::string, double>>& list) {
  std::string text;
  for (const auto& [label, factor] : list)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", label, factor);
  return text;
}

}  // namespace tamis

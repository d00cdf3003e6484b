// The third part of text_chunks.hpp: what labels and numbers must look like, and what to say when
// they do not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/utf8.hpp"
#include "io/number_parser.hpp"
#include "io/text_chunks.hpp"

namespace tamis {
namespace {

// "nan", "inf" and "infinity" in any case, with or without sign.
bool spells_not_finite(std::string_view token) {
  if (token.starts_with('-') || token.starts_with('+')) token.remove_prefix(1);
  std::string lower(token.substr(0, 9));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// The digits of a whole number without leading zeros; empty if `token` is written another way.
std::string_view whole_digits(std::string_view token) {
  if (token.starts_with('-') || token.starts_with('+')) token.remove_prefix(1);
  if (token.empty() || token.find_first_not_of("0123456789") != std::string_view::npos) return {};
  const std::size_t first = token.find_first_not_of('0');
  return token.substr(std::min(first, token.size() - 1));
}

}  // namespace

void LabelCounts::add_number(std::string_view token, double value) {
  ++numbers;
  if (std::abs(value) < 0x1p53) [[likely]]
    return;
  const std::string_view digits = whole_digits(token);
  rounded = rounded || (!digits.empty() && digits != fmt::format("{:.0f}", std::abs(value)));
}

void LabelCounts::add_word(std::int64_t offset, std::string_view token) {
  ++words;
  if (first_word >= 0) return;
  first_word = offset;
  word = token;
}

std::string number_label(std::string_view token) {
  const std::string_view digits = whole_digits(token);
  if (!digits.empty()) {
    const bool negative = token.starts_with('-') && digits != "0";
    return fmt::format("{}{}", negative ? "-" : "", digits);
  }
  const std::string ended = std::string(token) + '\n';
  return fmt::format("{}", parse_number(ended.c_str()).value);
}

std::string number_problem(std::string_view token) {
  if (spells_not_finite(token))
    return fmt::format("{} is not allowed: values must be finite", quote_text(token));
  const std::string ended = std::string(token) + '\n';
  const ParsedNumber number = parse_number(ended.c_str());
  if (number.end == ended.c_str() + token.size() &&
      !std::isfinite(static_cast<float>(number.value)))
    return fmt::format("{} is too large for a 32-bit float", quote_text(token));
  return fmt::format("{} is not a number", quote_text(token));
}

bool spells_nan(std::string_view token) {
  if (token.starts_with('-') || token.starts_with('+')) token.remove_prefix(1);
  return token.size() == 3 && (token[0] == 'n' || token[0] == 'N') &&
         (token[1] == 'a' || token[1] == 'A') && (token[2] == 'n' || token[2] == 'N');
}

void check_text(const char* where, std::string_view text, std::string_view what) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (is_control(text[i])) {
      throw TextProblem{where + i,
                        fmt::format("byte 0x{:02x} in {}: this is not a text file", byte, what)};
    }
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0)
      throw TextProblem{where + i, fmt::format("byte 0x{:02x} in {} is not UTF-8", byte, what)};
    i += length;
  }
}

void check_word_label(const char* where, std::string_view word, bool words_allowed) {
  check_text(where, word, "a label");
  if (spells_not_finite(word))
    throw TextProblem{where, fmt::format("the label {} is not finite", quote_text(word))};
  if (!words_allowed)
    throw TextProblem{where, fmt::format("the label {} is not a number", quote_text(word))};
}

void check_finite_number(const char* where, std::string_view token, double value) {
  if (std::isfinite(value)) return;
  throw TextProblem{where, fmt::format("{} is too large for a number", quote_text(token))};
}

}  // namespace tamis

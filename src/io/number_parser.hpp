// Decimal text to number, locale-free, as fast as the readers need it.
#pragma once

#include <cstdint>

namespace tamis {

/// `end` is one past the number, or null when the text does not start with one. `value` is infinite
/// when the number is too large for a double.
struct ParsedNumber {
  double value = 0;
  const char* end = nullptr;
};

namespace detail {

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline unsigned digit_of(char c) { return static_cast<unsigned char>(c) - unsigned{'0'}; }

/// The correctly rounded value of [begin, end), digits with optional point and exponent, no sign.
double parse_number_slowly(const char* begin, const char* end);

}  // namespace detail

/// Reads [+-] digits [. digits] [e [+-] digits] with at least one digit before the exponent;
/// nothing else, in particular no hexadecimal, nan or inf. The text must be followed by a byte that
/// cannot continue a number (the readers guarantee a line end), so no end pointer is needed. The
/// result is the double nearest to the text: up to 2^53 the digits are exact in a double and so are
/// the powers of ten to 10^22, which leaves a single rounding; everything else takes the slow way.
/// Inlined by force: a call for each number takes 3 to 6 % of the time of reading.
[[gnu::always_inline]] inline ParsedNumber parse_number(const char* text) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  const char* p = text;
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const char* const begin = p;
  std::uint64_t digits = 0;  // wraps beyond 19 digits; the slow way does not use it
  for (unsigned d = detail::digit_of(*p); d <= 9; d = detail::digit_of(*++p))
    digits = digits * 10 + d;
  std::int64_t count = p - begin;
  std::int64_t exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    for (unsigned d = detail::digit_of(*p); d <= 9; d = detail::digit_of(*++p))
      digits = digits * 10 + d;
    exponent = fraction - p;
    count -= exponent;
  }
  if (count == 0) return {};
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool down = *p == '-';
    if (down || *p == '+') ++p;
    if (detail::digit_of(*p) > 9) return {};
    std::int64_t shift = 0;
    for (unsigned d = detail::digit_of(*p); d <= 9; d = detail::digit_of(*++p)) {
      if (shift < 100000) shift = shift * 10 + d;
    }
    exponent += down ? -shift : shift;
  }
  double value = 0;
  if (count <= 19 && digits <= kExact && exponent >= -22 && exponent <= 22) [[likely]] {
    value = static_cast<double>(digits);
    if (exponent < 0)
      value /= detail::kPowersOfTen[-exponent];
    else
      value *= detail::kPowersOfTen[exponent];
  } else {
    value = detail::parse_number_slowly(begin, p);
  }
  return {negative ? -value : value, p};
}

}  // namespace tamis

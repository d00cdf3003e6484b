#include "io/number_parser.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace tamis::detail {
namespace {

// from_chars reports numbers too large and too small alike. True if the first digit that is not
// zero stands above the units.
bool is_large(const char* begin, const char* end) {
  std::int64_t place = 0;  // of the first significant digit, 1 = units
  bool significant = false;
  bool in_fraction = false;
  const char* p = begin;
  for (; p != end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') {
      in_fraction = true;
      continue;
    }
    significant = significant || *p != '0';
    if (significant && !in_fraction) ++place;
    if (!significant && in_fraction) --place;
  }
  std::int64_t exponent = 0;
  if (p != end) {
    ++p;
    if (*p == '+') ++p;
    if (std::from_chars(p, end, exponent).ec != std::errc()) return *p != '-';
  }
  return exponent > -place;  // the smallest exponent has no negative
}

}  // namespace

double parse_number_slowly(const char* begin, const char* end) {
  double value = 0;
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (error == std::errc()) return value;
  return is_large(begin, end) ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace tamis::detail

// Sizes: arithmetic that refuses to overflow, and conversions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tamis/error.hpp"

namespace tamis {

inline std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw ResourceError("a size overflows 64 bits");
  return result;
}

inline std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw ResourceError("a size overflows 64 bits");
  return result;
}

/// For indexing standard containers with the signed sizes used everywhere else.
constexpr std::size_t usize(std::int64_t value) { return static_cast<std::size_t>(value); }

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace tamis

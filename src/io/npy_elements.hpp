// The elements of a NumPy array by their type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "io/npy_header.hpp"

namespace tamis {

/// Calls use(T()) with the element type of a numeric array; each loop is compiled for its type.
template <typename Use>
void with_element_type(const NpyArray& array, const Use& use) {
  const auto pick = [&]<typename A, typename B, typename C, typename D>(A a, B b, C c, D d) {
    if (array.item_bytes == 1) use(a);
    if (array.item_bytes == 2) use(b);
    if (array.item_bytes == 4) use(c);
    if (array.item_bytes == 8) use(d);
  };
  if (array.kind == 'f' && array.item_bytes == 4) use(float{});
  if (array.kind == 'f' && array.item_bytes == 8) use(double{});
  if (array.kind == 'i') pick(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
  if (array.kind == 'u' || array.kind == 'b')
    pick(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
}

inline bool is_numeric(const NpyArray& array) { return array.kind != 'U' && array.kind != 'S'; }

/// Whether the double is another number. The largest integers would not fit back.
template <typename T>
bool is_rounded(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const auto rounded = static_cast<double>(value);
    return rounded >= static_cast<double>(std::numeric_limits<T>::max()) ||
           static_cast<T>(rounded) != value;
  }
  return false;
}

}  // namespace tamis

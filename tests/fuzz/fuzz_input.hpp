// What the fuzz targets share: bytes taken apart into choices, and checks that end the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tamis::fuzz {

/// Ends the process, so that the fuzzer keeps the input. std::abort, not an exception: the targets
/// catch those.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

/// Takes choices from the front of the input. When the bytes end, everything is 0: a prefix of an
/// input is an input.
class ByteReader {
 public:
  ByteReader(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const std::size_t count = std::min(sizeof value, rest_.size());
    if (count > 0) std::memcpy(&value, rest_.data(), count);
    rest_.remove_prefix(count);
    return value;
  }
  std::uint8_t byte() { return take<std::uint8_t>(); }
  bool flag() { return (byte() & 1U) != 0; }
  /// 0 .. count - 1, count up to 256.
  std::size_t below(std::size_t count) { return byte() % count; }
  template <typename List>
  auto pick(const List& list) {
    return list[below(std::size(list))];
  }
  /// Up to the next end of line, which is dropped.
  std::string_view line() {
    const std::string_view text = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), text.size() + 1));
    return text;
  }
  std::string_view bytes(std::size_t count) {
    const std::string_view text = rest_.substr(0, count);
    rest_.remove_prefix(text.size());
    return text;
  }
  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace tamis::fuzz

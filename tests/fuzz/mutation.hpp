// For mutators that keep a file's structure: a source of random choices, and the inputs' bytes as a
// string.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>

namespace tamis::fuzz {

class Dice {
 public:
  explicit Dice(unsigned int seed) : random_(seed) {}
  std::size_t below(std::size_t count) { return random_() % count; }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }
  std::uint64_t bits() { return random_() << 32U | random_(); }

 private:
  std::mt19937 random_;
};

/// Writes `text` to where the fuzzer wants it; what is too long is cut.
inline std::size_t put(const std::string& text, std::uint8_t* data, std::size_t most) {
  const std::size_t count = std::min(text.size(), most);
  std::memcpy(data, text.data(), count);
  return count;
}

}  // namespace tamis::fuzz

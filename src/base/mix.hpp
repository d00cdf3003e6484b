// Bits stirred, for hashes.
#pragma once

#include <cstdint>

namespace tamis {

/// The finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace tamis

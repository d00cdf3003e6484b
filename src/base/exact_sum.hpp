// The sum of any number of doubles, the same for every order of the terms and for every way to
// split them: it is kept in fixed point, wide enough for all of them, and rounded once. R. M. Neal,
// "Fast exact summation using small and large superaccumulators", 2015.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/group.hpp"

namespace tamis {

class ExactSum {
 public:
  void add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto exponent = static_cast<unsigned>(bits >> 52 & 0x7FF);
    if (exponent == 0x7FF) {
      special_ += value;  // infinite or not a number: so is the sum
      return;
    }
    std::uint64_t mantissa = bits & 0xFFFFFFFFFFFFF;
    if (exponent != 0) mantissa |= std::uint64_t{1} << 52;
    const unsigned place = exponent == 0 ? 1 : exponent;  // of the lowest bit, from 2^-1075
    const unsigned shift = place % 32;
    const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
    std::int64_t* chunk = chunks_.data() + place / 32;
    const std::uint64_t low = mantissa << shift;  // its upper bits are taken below
    const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
    chunk[0] += sign * static_cast<std::int64_t>(low & 0xFFFFFFFF);
    chunk[1] += sign * static_cast<std::int64_t>(low >> 32);
    chunk[2] += sign * static_cast<std::int64_t>(high);
    if (++since_carry_ == kMostAdds) carry();
  }

  void add(const ExactSum& other) {
    ExactSum canonical = other;
    canonical.carry();
    carry();
    for (std::size_t k = 0; k < kChunks; ++k) chunks_[k] += canonical.chunks_[k];
    special_ += other.special_;
    carry();
  }

  double value() const {
    if (special_ != 0 || std::isnan(special_)) return special_;
    ExactSum canonical = *this;
    canonical.carry();
    const bool negative = canonical.chunks_[kChunks - 1] < 0;
    if (negative) {
      for (std::int64_t& chunk : canonical.chunks_) chunk = -chunk;
      canonical.carry();
    }
    // Every chunk now lies in [0, 2^32), so equal sums have equal chunks: the four highest hold
    // more bits than a double.
    double sum = 0;
    int used = 0;
    for (std::size_t k = kChunks; k-- > 0 && used < 4;) {
      if (used == 0 && canonical.chunks_[k] == 0) continue;
      sum += std::ldexp(static_cast<double>(canonical.chunks_[k]), static_cast<int>(32 * k) - 1075);
      ++used;
    }
    return negative ? -sum : sum;
  }

 private:
  static constexpr std::size_t kChunks = 68;  // 32 bits each, from 2^-1075
  static constexpr std::int64_t kMostAdds = std::int64_t{1} << 30;

  // Brings all chunks but the last into [0, 2^32).
  void carry() {
    for (std::size_t k = 0; k + 1 < kChunks; ++k) {
      const std::int64_t over = chunks_[k] >> 32;  // rounds down, for negative ones too
      chunks_[k] -= over * (std::int64_t{1} << 32);
      chunks_[k + 1] += over;
    }
    since_carry_ = 0;
  }

  std::array<std::int64_t, kChunks> chunks_{};
  double special_ = 0;
  std::int64_t since_carry_ = 0;
};

/// The sum of the terms of all ranks.
inline ExactSum sum_of_all(Group& group, const ExactSum& mine) {
  if (group.size() == 1) return mine;
  ExactSum all;
  for (const ExactSum& part : gather_values(group, mine)) all.add(part);
  return all;
}

}  // namespace tamis

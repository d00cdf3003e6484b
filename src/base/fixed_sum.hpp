// Sums that do not depend on the order of their terms, at the price of a known number of bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tamis {

/// Adds whole multiples of one small unit: exact, so any order and any split gives the same. The
/// unit is chosen for so many terms of such a size: 2^-45 of the largest one, or what 63 bits
/// allow.
class FixedSum {
 public:
  FixedSum() = default;
  FixedSum(double largest, std::int64_t count) {
    if (!(largest > 0) || !std::isfinite(largest)) return;
    const int bits_of_count = std::ilogb(static_cast<double>(std::max<std::int64_t>(1, count))) + 1;
    exponent_ = std::min(45, 61 - bits_of_count) - std::ilogb(largest);
    factor_ = std::ldexp(1.0, exponent_);
  }

  /// Not larger in size than the constructor was told.
  void add(double term) {
    const double units = term * factor_;
    total_ += static_cast<std::int64_t>(units < 0 ? units - 0.5 : units + 0.5);
  }
  double value() const { return std::ldexp(static_cast<double>(total_), -exponent_); }

  std::int64_t total() const { return total_; }
  void set_total(std::int64_t total) { total_ = total; }

 private:
  int exponent_ = 0;  // 2^-exponent_ is the unit
  double factor_ = 1;
  std::int64_t total_ = 0;
};

}  // namespace tamis

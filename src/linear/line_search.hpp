// Where an increasing function vanishes.
#pragma once

#include <cmath>

namespace tamis::linear {

inline constexpr int kMostSlopes = 60;  // that a line search looks at

/// A length in (0, 1) with |slope(length)| <= enough; slope(0) = first < 0 < slope(1) = whole.
/// Regula falsi, in its Illinois variant.
template <typename Slope>
double root_of_slope(double first, double whole, double enough, const Slope& slope_at) {
  double low = 0;
  double low_slope = first;
  double high = 1;
  double high_slope = whole;
  double length = 1;
  int side = 0;  // on which the last trial was
  for (int trial = 0; trial < kMostSlopes; ++trial) {
    length = low - low_slope * (high - low) / (high_slope - low_slope);
    const double slope = slope_at(length);
    if (std::abs(slope) <= enough || !std::isfinite(slope)) break;
    if (slope > 0) {
      high = length;
      high_slope = slope;
      if (side > 0) low_slope /= 2;
      side = 1;
    } else {
      low = length;
      low_slope = slope;
      if (side < 0) high_slope /= 2;
      side = -1;
    }
  }
  return length;
}

}  // namespace tamis::linear

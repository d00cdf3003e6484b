// What Newton's method keeps of a point, and small things that it works with.
#pragma once

#include <algorithm>
#include <cmath>

namespace tamis::linear {

/// One cache line.
struct alignas(64) NewtonPoint {
  double target = 0;
  double cost = 0;
  double lower = 0;
  double upper = 0;
  double pull = 0;    ///< width / C times the center
  double value = 0;   ///< w'x + offset
  double change = 0;  ///< of the value, for a whole step
  double b = 0;
};

/// The b_i at which the proximal dual is least for this value; `give` is 1 / its curvature along
/// b_i, without that of w.
inline double best_coefficient(const NewtonPoint& point, double value, double give, double tube) {
  double rest = point.target - value + point.pull;
  rest = rest > tube ? rest - tube : rest < -tube ? rest + tube : 0;
  return std::clamp(rest * give, point.lower, point.upper);
}

/// The factor, at most `most`, that is the same for all steps that bring a width down by `ratio`.
inline double even_factor(double ratio, double most) {
  if (!(ratio > 1) || !std::isfinite(ratio)) return most;
  const double steps = std::ceil(std::log(ratio) / std::log(most));
  return std::max(2.0, std::pow(ratio, 1 / steps));
}

}  // namespace tamis::linear

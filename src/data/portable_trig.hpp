// Sine and cosine from +, * alone, so that generated data are the same bits on every platform; the
// platform's sin() may differ in the last one.
#pragma once

#include <cmath>

namespace tamis {

/// sin(2 pi turns), to about 1e-15.
inline double sin_turns(double turns) {
  turns -= std::floor(turns + 0.5);
  if (turns > 0.25) turns = 0.5 - turns;
  if (turns < -0.25) turns = -0.5 - turns;
  const double angle = turns * 6.283185307179586;
  const double square = angle * angle;
  double sum = 1;  // Taylor; |angle| <= pi / 2, so the term left out is below 1e-17
  for (int k = 22; k >= 2; k -= 2) sum = 1 - sum * square / (k * (k + 1));
  return angle * sum;
}

inline double cos_turns(double turns) { return sin_turns(turns + 0.25); }

}  // namespace tamis

#include "selection/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace tamis {
namespace {

// Below this, a training is fixed cost and noise; its growth says nothing.
constexpr double kNoiseSeconds = 0.02;

// Exponent of the error's fall that is believed to go on.
constexpr double kSlowing = 0.6;
// The error falls at most with this power of the rows.
constexpr double kSteepest = 0.5;

double growth_of(std::span<const Trial> trials, const Growth& limits) {
  if (trials.size() < 2) return (limits.least + limits.most) / 2;
  const Trial& before = trials[trials.size() - 2];
  const Trial& last = trials.back();
  if (last.seconds < kNoiseSeconds) return limits.most;
  const double power = std::log(last.seconds / std::max(before.seconds, 1e-6)) /
                       std::log(static_cast<double>(last.rows) / static_cast<double>(before.rows));
  return std::clamp(power, limits.least, limits.most);
}

double fall_of(std::span<const Trial> trials) {
  if (trials.size() < 2) return 0;
  const Trial& before = trials[trials.size() - 2];
  const Trial& last = trials.back();
  if (last.error <= 0 || before.error <= last.error) return 0;
  const double power = std::log(before.error / last.error) /
                       std::log(static_cast<double>(last.rows) / static_cast<double>(before.rows));
  return std::min(power, kSteepest);
}

}  // namespace

Forecast forecast(std::span<const Trial> trials, Index rows, const Growth& growth) {
  const Trial& last = trials.back();
  const double ratio = static_cast<double>(rows) / static_cast<double>(last.rows);
  return {last.seconds * std::pow(ratio, growth_of(trials, growth)),
          last.error * std::pow(ratio, -kSlowing * fall_of(trials))};
}

Index affordable_rows(std::span<const Trial> trials, double seconds, Index all,
                      const Growth& growth) {
  const Trial& last = trials.back();
  if (forecast(trials, all, growth).seconds <= seconds) return all;
  // The time may be used up already: no power of a negative number.
  const double share = std::max(seconds, 0.0) / std::max(last.seconds, 1e-6);
  const double ratio = std::pow(share, 1 / growth_of(trials, growth));
  const double rows = static_cast<double>(last.rows) * ratio;
  return std::clamp(static_cast<Index>(std::min(rows, 1e15)), std::min(last.rows, all), all);
}

}  // namespace tamis

// The time of a search.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "tamis/options.hpp"

namespace tamis {

class SearchClock {
 public:
  /// 0: no limit.
  explicit SearchClock(double max_seconds) : max_seconds_(max_seconds) {}

  double seconds() const { return watch_.seconds(); }
  /// Infinite without a limit.
  double left() const {
    return max_seconds_ == 0 ? std::numeric_limits<double>::infinity()
                             : max_seconds_ - watch_.seconds();
  }
  bool is_over() const { return left() <= 0; }

  /// The options, limited to what is left of the time.
  TrainOptions limit(TrainOptions options) const {
    constexpr double kLeast = 1e-9;  // 0 would be no limit
    if (std::isfinite(left())) options.max_seconds = std::max(kLeast, left());
    return options;
  }

 private:
  double max_seconds_;
  Stopwatch watch_;
};

}  // namespace tamis

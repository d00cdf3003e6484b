// Which of two ways to do the same work is faster here, found out by trying.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

namespace tamis::qp {

/// Both ways must give the same result: which one is taken depends on measured times.
class FasterWay {
 public:
  /// The way to take next, 0 or 1: in turns during the first trials, then 0, or 1 if its best trial
  /// was clearly faster.
  int next() const {
    if (trials_ < 2 * kTrialsOfEach) return trials_ % 2;
    return best_[1] < kClearly * best_[0] ? 1 : 0;
  }

  /// That way took so long for a unit of the work.
  void note(int way, double seconds_per_unit) {
    if (trials_ == 2 * kTrialsOfEach) return;
    ++trials_;
    double& best = best_[static_cast<std::size_t>(way)];
    best = std::min(best, seconds_per_unit);
  }

 private:
  static constexpr int kTrialsOfEach = 4;
  static constexpr double kClearly = 0.8;

  int trials_ = 0;
  std::array<double, 2> best_{std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()};
};

}  // namespace tamis::qp

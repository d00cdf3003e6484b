// When to stop, and why it stopped.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.hpp"
#include "tamis/control.hpp"
#include "tamis/report.hpp"

namespace tamis::qp {

/// No problem that converges at all needs as many; one that does not must still end.
inline constexpr std::int64_t kSafetyIterations = 1'000'000'000;

struct Limits {
  double eps = 1e-3;                ///< largest KKT gap of an accepted answer, as LIBSVM's -e
  std::int64_t max_iterations = 0;  ///< pair updates; 0: no limit
  double max_seconds = 0;           ///< 0: no limit
};

/// What the solver tells while it works.
struct Status {
  std::int64_t iterations = 0;
  double gap = 0;
  Index active = 0;
};

/// Watches limits and the caller's wish to stop. Cheap enough to ask every millisecond.
class StopCheck {
 public:
  StopCheck(const Limits& limits, const RunControl& control) : limits_(limits), control_(control) {}

  const Limits& limits() const { return limits_; }
  std::int64_t max_iterations() const {
    return limits_.max_iterations > 0 ? limits_.max_iterations : kSafetyIterations;
  }
  double seconds() const { return watch_.seconds(); }

  /// True when the work must end now; reason() then says why.
  bool must_stop(std::int64_t iterations = 0) {
    if (control_.cancelled())
      reason_ = StopReason::interrupted;
    else if (limits_.max_seconds > 0 && watch_.seconds() >= limits_.max_seconds)
      reason_ = StopReason::time_limit;
    else if (iterations >= max_iterations())
      reason_ = StopReason::iteration_limit;
    return reason_ != StopReason::converged;
  }
  StopReason reason() const { return reason_; }
  /// On several ranks: the reason that all agreed on.
  void adopt_reason(StopReason reason) { reason_ = reason; }
  /// No pair can improve the answer within the precision of the kernel values.
  void note_precision_limit() { reason_ = StopReason::precision_limit; }

  /// Time is up or the caller wants to stop. Unlike must_stop(), safe to call from many threads.
  bool interrupted() const {
    return control_.cancelled() ||
           (limits_.max_seconds > 0 && watch_.seconds() >= limits_.max_seconds);
  }

 private:
  Limits limits_;
  const RunControl& control_;
  Stopwatch watch_;
  StopReason reason_ = StopReason::converged;
};

}  // namespace tamis::qp

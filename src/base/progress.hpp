// Throttled progress reports and the cancel check, in one object a long loop carries along.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "tamis/control.hpp"
#include "tamis/error.hpp"

namespace tamis {

/// The same wishes, without reports: for a step of work that reports by itself.
inline RunControl quiet(RunControl control) {
  control.on_progress = nullptr;
  control.on_remark = nullptr;
  return control;
}

/// The same wishes, deaf to cancelling: for what a cancelled run still has to do.
inline RunControl unstopped(RunControl control) {
  control.cancel = nullptr;
  return control;
}

/// Counts finished units of one phase and reports them. add() is thread-safe and cheap enough to
/// call per block.
class ProgressMeter {
 public:
  /// `total_units` <= 0: unknown.
  ProgressMeter(const RunControl& control, std::string phase, std::int64_t total_units)
      : control_(control), phase_(std::move(phase)), total_(total_units) {}

  /// Reports at most ten times a second; throws Cancelled when the caller asked to stop.
  void add(std::int64_t units) {
    const std::int64_t done = done_.fetch_add(units, std::memory_order_relaxed) + units;
    if (control_.cancelled()) throw Cancelled();
    if (!control_.on_progress) return;
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || watch_.seconds() - last_report_ < 0.1) return;
    last_report_ = watch_.seconds();
    Progress progress;
    progress.phase = phase_;
    progress.elapsed_seconds = last_report_;
    if (total_ > 0) {
      progress.done_fraction = static_cast<double>(done) / static_cast<double>(total_);
      if (done > 0)
        progress.left_seconds =
            last_report_ * static_cast<double>(total_ - done) / static_cast<double>(done);
    }
    control_.on_progress(progress);
  }

 private:
  RunControl control_;  // a copy: a reader may outlive the call that made it
  std::string phase_;
  std::int64_t total_;
  std::atomic<std::int64_t> done_{0};
  Stopwatch watch_;
  std::mutex mutex_;
  double last_report_ = 0;
};

}  // namespace tamis

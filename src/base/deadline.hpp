// A cancel flag that a clock sets.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// Work under control() is cancelled when the seconds are over, or the outer control is. For calls
/// that know no limit of time by themselves.
class Deadline {
 public:
  /// Infinite seconds: never. The outer flag must outlive this.
  Deadline(const RunControl& outer, double seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  const RunControl& control() const { return control_; }
  bool passed() const { return passed_.load(std::memory_order_relaxed); }

 private:
  void watch(double seconds);

  const std::atomic<bool>* outer_cancel_;
  RunControl control_;
  std::atomic<bool> cancel_{false};
  std::atomic<bool> passed_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace tamis

#include "base/deadline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tamis {

Deadline::Deadline(const RunControl& outer, double seconds)
    : outer_cancel_(outer.cancel), control_(outer) {
  if (std::isinf(seconds)) return;  // the outer flag itself will do
  control_.cancel = &cancel_;
  watcher_ = std::thread([this, seconds] { watch(seconds); });
}

Deadline::~Deadline() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  ended_.notify_one();
  if (watcher_.joinable()) watcher_.join();
}

void Deadline::watch(double seconds) {
  constexpr double kLook = 0.005;  // the outer flag is looked at so often
  const Stopwatch watch;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!done_) {
    if (outer_cancel_ != nullptr && outer_cancel_->load(std::memory_order_relaxed)) cancel_ = true;
    const double left = seconds - watch.seconds();
    if (left <= 0) cancel_ = passed_ = true;
    ended_.wait_for(lock, std::chrono::duration<double>(left > 0 ? std::min(left, kLook) : kLook));
  }
}

}  // namespace tamis

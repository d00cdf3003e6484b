#include "methods/common/train_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tamis/text.hpp"

namespace tamis {

// When the table is full, every other row goes and the next ones come half as often.
void TrainProgress::record(const qp::Status& status) {
  constexpr std::size_t kMostRows = 256;
  if (updates_++ % stride_ != 0) return;
  auto& rows = convergence_.rows;
  if (rows.size() == kMostRows) {
    for (std::size_t r = 0; 2 * r < kMostRows; ++r) rows[r] = rows[2 * r];
    rows.resize(kMostRows / 2);
    stride_ *= 2;
  }
  rows.push_back({watch_.seconds(), static_cast<double>(status.iterations), status.gap,
                  static_cast<double>(status.active)});
}

void TrainProgress::update(const qp::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (machines_ == 1) record(status);
  if (!control_.on_progress) return;
  if (watch_.seconds() - last_report_ < 0.1) return;
  last_report_ = watch_.seconds();
  Progress progress;
  progress.phase = "train";
  progress.elapsed_seconds = last_report_;
  if (machines_ > 1) {
    progress.done_fraction = static_cast<double>(done_) / static_cast<double>(machines_);
    progress.detail = fmt::format("{} of {}", done_, counted(machines_, "binary SVM"));
  } else {
    // The gap falls about exponentially: progress is measured on its logarithm.
    largest_gap_ = std::max(largest_gap_, status.gap);
    if (status.gap > 0 && largest_gap_ > eps_) {
      progress.done_fraction =
          std::clamp(std::log(largest_gap_ / status.gap) / std::log(largest_gap_ / eps_), 0.0, 1.0);
    }
    progress.detail = fmt::format("iteration {}, gap {:.3g}, {} active", status.iterations,
                                  status.gap, counted(status.active, "row"));
  }
  if (progress.done_fraction > 0.02) {
    progress.left_seconds = last_report_ * (1 - progress.done_fraction) / progress.done_fraction;
  }
  control_.on_progress(progress);
}

void TrainProgress::machine_done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++done_;
}

}  // namespace tamis

#include "compare/plan_progress.hpp"

#include <algorithm>

namespace tamis {

RunControl PlanProgress::begin_step(std::string detail) {
  detail_ = std::move(detail);
  step_.restart();
  RunControl own = control_;
  if (!control_.on_progress) return own;
  own.on_progress = [this](const Progress& of_step) {
    Progress progress;
    progress.phase = phase_;
    progress.elapsed_seconds = watch_.seconds();
    progress.left_seconds = seconds_left();
    if (progress.left_seconds >= 0) {
      progress.done_fraction =
          progress.elapsed_seconds / (progress.elapsed_seconds + progress.left_seconds);
    }
    progress.detail = detail_ + (of_step.detail.empty() ? "" : ": " + of_step.detail);
    control_.on_progress(progress);
  };
  return own;
}

void PlanProgress::end_step() {
  const double seconds = step_.seconds();
  ++steps_of_kind_;
  ++steps_;
  kind_seconds_ += seconds;
  all_seconds_ += seconds;
}

void PlanProgress::end_kind() {
  ++kinds_done_;
  steps_of_kind_ = 0;
  kind_seconds_ = 0;
}

double PlanProgress::seconds_left() const {
  if (steps_ == 0) return -1;
  const double mean = all_seconds_ / static_cast<double>(steps_);
  const double of_kind =
      steps_of_kind_ > 0 ? kind_seconds_ / static_cast<double>(steps_of_kind_) : mean;
  const auto same = static_cast<double>(per_kind_ - steps_of_kind_);
  const auto later = static_cast<double>((kinds_ - kinds_done_ - 1) * per_kind_);
  return std::max(0.0, same * of_kind - step_.seconds()) + later * mean;
}

}  // namespace tamis

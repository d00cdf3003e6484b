// Progress of a plan of trainings that take unlike times.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Steps are of kinds; those of a kind take about as long as each other. What remains is estimated
/// from the steps done: those of the same kind, or all, for a kind that none was done of.
class PlanProgress {
 public:
  PlanProgress(const RunControl& control, std::string phase, Index kinds, Index steps_per_kind)
      : control_(control), phase_(std::move(phase)), kinds_(kinds), per_kind_(steps_per_kind) {}

  /// For the calls of the step that begins now. `detail` says which it is.
  RunControl begin_step(std::string detail);
  void end_step();
  /// No more steps of the current kind.
  void end_kind();

 private:
  double seconds_left() const;

  const RunControl& control_;
  std::string phase_;
  Index kinds_;
  Index per_kind_;
  Index kinds_done_ = 0;
  Index steps_of_kind_ = 0;  // done
  Index steps_ = 0;          // done, of all kinds
  double kind_seconds_ = 0;
  double all_seconds_ = 0;
  Stopwatch watch_;
  Stopwatch step_;
  std::string detail_;
};

}  // namespace tamis

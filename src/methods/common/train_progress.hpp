// Turns solver status into progress reports, at most ten a second, from however many machines train
// at once.
#pragma once

#include <mutex>

#include "base/clock.hpp"
#include "qp/stopping.hpp"
#include "tamis/control.hpp"
#include "tamis/report.hpp"

namespace tamis {

class TrainProgress {
 public:
  /// `eps`: the gap at which a machine is done.
  TrainProgress(const RunControl& control, Index machines, double eps)
      : control_(control), machines_(machines), eps_(eps) {}

  void update(const qp::Status& status);
  void machine_done();
  /// What a single machine told on its way: a few hundred points at most. Empty for several
  /// machines, whose ways cross.
  ReportTable convergence() const { return convergence_; }

 private:
  void record(const qp::Status& status);

  const RunControl& control_;
  Index machines_;
  double eps_;
  std::mutex mutex_;
  Stopwatch watch_;
  double last_report_ = 0;
  double largest_gap_ = 0;
  ReportTable convergence_{"convergence", {"seconds", "iterations", "gap", "active"}, {}};
  Index updates_ = 0;
  Index stride_ = 1;  // every so many updates become a row
  Index done_ = 0;
};

}  // namespace tamis

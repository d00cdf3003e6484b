#include "methods/common/report_stats.hpp"

namespace tamis {

MachineStats stats_of(const TrainReport& report) {
  MachineStats stats;
  stats.objective = report.objective;
  stats.gap = report.gap;
  stats.violation = report.violation;
  stats.iterations = report.iterations;
  stats.kernel_evaluations = report.kernel_evaluations;
  stats.cached_evaluations = report.cached_evaluations;
  stats.bounded_support_vectors = report.bounded_support_vectors;
  stats.stop_reason = report.stop_reason;
  return stats;
}

void set_stats(const MachineStats& stats, TrainReport* report) {
  report->objective = stats.objective;
  report->gap = stats.gap;
  report->violation = stats.violation;
  report->iterations = stats.iterations;
  report->kernel_evaluations = stats.kernel_evaluations;
  report->cached_evaluations = stats.cached_evaluations;
  report->bounded_support_vectors = stats.bounded_support_vectors;
  report->stop_reason = stats.stop_reason;
}

void add_stats(const MachineStats& stats, TrainReport* report) {
  MachineStats sum = stats_of(*report);
  sum.add(stats);
  set_stats(sum, report);
}

void add_machine(const MachineStats& stats, TrainReport* report) {
  add_stats(stats, report);
  ++report->machines;
  report->machine_iterations.push_back(stats.iterations);
}

void add_run(const TrainReport& run, TrainReport* report) {
  add_stats(stats_of(run), report);
  report->machines += run.machines;
  report->machine_iterations.insert(report->machine_iterations.end(),
                                    run.machine_iterations.begin(), run.machine_iterations.end());
}

}  // namespace tamis

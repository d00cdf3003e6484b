// The part of a report that solvers fill in: what MachineStats holds, summed over machines.
#pragma once

#include "svm/binary_task.hpp"
#include "tamis/report.hpp"

namespace tamis {

MachineStats stats_of(const TrainReport& report);
void set_stats(const MachineStats& stats, TrainReport* report);
/// Adds sums, takes the largest violation and the earliest stop.
void add_stats(const MachineStats& stats, TrainReport* report);
/// The same for one binary SVM of the model, which is counted.
void add_machine(const MachineStats& stats, TrainReport* report);
/// Adds another training run with all its machines.
void add_run(const TrainReport& run, TrainReport* report);

}  // namespace tamis

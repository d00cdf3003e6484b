// A whole exact kernel machine - one binary machine, or one for each pair of classes or each class
// - on all rows or some. Every method that ends in an ordinary machine is built on this.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "methods/common/method.hpp"
#include "methods/common/report_stats.hpp"
#include "svm/binary_task.hpp"

namespace tamis {

struct KernelMachine {
  std::vector<TrainedMachine> machines;  ///< rows are those of the training set
  Decision decision = Decision::single;
  TrainReport report;       ///< of what training these machines adds to a report
  ReportTable convergence;  ///< of a single machine; no rows for several

  /// Rows that are support vectors of some machine, ascending.
  std::vector<Index> support_rows() const;
};

/// What the memory budget leaves for kernel rows, for each of the machines that train at the same
/// time on this number of rows. Throws ResourceError when there is no room for the training at all.
Index cache_for_each(const TrainingSet& data, Index rows, const TrainContext& context,
                     Index at_once);

/// Where the numbers that a method keeps for each row lie, and what is left beside them.
struct RowRoom {
  RowStore store;
  Index cache_bytes = 0;  ///< for kernel rows, of each of those that train at the same time
};

/// In memory, if the budget leaves so many `row_bytes` in all beside `work_bytes` for all else.
/// Throws ResourceError when there is no room for these alone.
RowRoom room_for_rows(const std::string& what, Index row_bytes, Index work_bytes,
                      const TrainContext& context, Index at_once);

/// Binary SVMs that the tables of a report have lines for: the first ones. A thousand classes have
/// half a million pairs, whose lines would take more memory than the model.
constexpr Index kListedMachines = 1000;

/// Adds `listed_binary_svms` to the report where its tables lack some of `count`.
void note_listed(Index count, TrainReport* report);

/// Throws ResourceError when the budget has no room for what `count` binary SVMs leave behind until
/// all are put together.
void require_room_for_results(Index count, Index bytes_each, const TrainContext& context);

/// The trainer, until the run must stop: tasks that begin later are left untrained. With many
/// classes, what each task prepares would add up.
BinaryTrainer while_it_may_run(const TrainContext& context, BinaryTrainer trainer);

/// Trains on the given rows of `data`, ascending and each once; a class without a row gets machines
/// that never choose it over another with rows. `start`: a machine trained before on some of these
/// rows (and others), to begin from. `keeps_state`: in control.checkpoint, if there is one.
KernelMachine train_kernel_machine(const TrainingSet& data, std::span<const Index> rows,
                                   const TrainContext& context,
                                   const KernelMachine* start = nullptr, bool keeps_state = false);
/// The same on all rows.
KernelMachine train_kernel_machine(const TrainingSet& data, const TrainContext& context,
                                   const KernelMachine* start = nullptr, bool keeps_state = false);
/// The name of a binary SVM's state in a CheckpointStore.
std::string checkpoint_name(Index machine);

/// The machine of an expansion whose support vectors are these rows of a training set, for a warm
/// start on it.
KernelMachine machine_on_rows(const KernelExpansion& expansion, std::span<const Index> rows);

std::shared_ptr<const KernelExpansion> make_expansion(const TrainingSet& data,
                                                      const KernelMachine& machine,
                                                      const RunControl* control = nullptr);

/// The machine as a method's result: expansion, support rows and report. The support vectors are
/// part of the memory budget, as in make_expansion().
MethodResult expansion_result(const TrainingSet& data, KernelMachine machine,
                              const RunControl& control = {});

}  // namespace tamis

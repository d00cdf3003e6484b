#include "methods/common/kernel_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "data/copy_rows.hpp"
#include "gram/near_points.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/common/train_progress.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/row_order.hpp"
#include "tamis/text.hpp"

namespace tamis {

Index cache_for_each(const TrainingSet& data, Index rows, const TrainContext& context,
                     Index at_once) {
  const Index budget = resolve_memory_budget(context.control.memory_bytes);
  const Index in_use = resident_memory_bytes();
  Index left = budget - in_use - binary_work_bytes(data.features, rows) * at_once;
  // Then the packed rows lie in a scratch file.
  if (left < 0) left = budget - in_use - binary_state_bytes(rows) * at_once;
  require_memory(fmt::format("training on {} of {}", counted(rows, "row"),
                             counted(data.features.cols(), "feature")),
                 in_use + binary_state_bytes(rows) * at_once, budget);
  // Mapped rows are copied, into memory if that takes up to half of it: see train_ordered().
  if (data.features.is_mapped()) {
    const Index row_bytes = data.features.size_bytes() / std::max<Index>(1, data.rows()) + 1;
    left -= std::min(left / 2, checked_product(rows, row_bytes) * at_once);
  }
  const Index cache = left / 10 * 9 / at_once;
  const std::optional<Index> wanted = context.options.cache_bytes;
  return wanted ? std::min(*wanted / at_once, cache) : cache;
}

namespace {

// Memory of the binary SVMs that train at the same time.
struct KernelRoom {
  Index cache_bytes = 0;
  RowStore store;
  RunControl control;
};

KernelRoom room_for_each(const TrainingSet& data, Index rows, const TrainContext& context,
                         Index at_once, bool keeps_state) {
  KernelRoom room{0, {}, context.control};
  const Index budget = resolve_memory_budget(context.control.memory_bytes);
  const Index in_use = resident_memory_bytes();
  const Index state = checked_product(binary_state_bytes(rows), at_once);
  if (checked_sum(in_use, state) <= budget) {
    room.cache_bytes = cache_for_each(data, rows, context, at_once);
    return room;
  }
  const bool saves = keeps_state && context.control.checkpoint != nullptr;
  const Index needed =
      in_use + checked_product(binary_least_bytes(data.features, rows, saves), at_once);
  require_memory(fmt::format("training on {} of {}", counted(rows, "row"),
                             counted(data.features.cols(), "feature")),
                 needed, budget);
  room.store = RowStore::for_bytes(state, context.control);
  // All that may lie in scratch files does: what is left is for the cache.
  room.control.memory_bytes = 1;
  const Index cache = (budget - needed) / 10 * 9 / at_once;
  const std::optional<Index> wanted = context.options.cache_bytes;
  room.cache_bytes = wanted ? std::min(*wanted / at_once, cache) : cache;
  return room;
}

}  // namespace

RowRoom room_for_rows(const std::string& what, Index row_bytes, Index work_bytes,
                      const TrainContext& context, Index at_once) {
  RowRoom room;
  room.store = RowStore::for_bytes(checked_sum(row_bytes, work_bytes), context.control);
  const Index budget = resolve_memory_budget(context.control.memory_bytes);
  const Index needed = checked_sum(checked_sum(resident_memory_bytes(), work_bytes),
                                   room.store.is_on_disk() ? 0 : row_bytes);
  require_memory(what, needed, budget);
  const Index cache = (budget - needed) / 10 * 9 / at_once;
  const std::optional<Index> wanted = context.options.cache_bytes;
  room.cache_bytes = wanted ? std::min(*wanted / at_once, cache) : cache;
  return room;
}

void note_listed(Index count, TrainReport* report) {
  if (count > kListedMachines)
    report->details.emplace_back("listed_binary_svms", static_cast<double>(kListedMachines));
}

void require_room_for_results(Index count, Index bytes_each, const TrainContext& context) {
  require_memory(fmt::format("training {}{}", counted(count, "binary SVM"),
                             count > kListedMachines ? " (one-vs-rest has fewer)" : ""),
                 checked_sum(resident_memory_bytes(), checked_product(count, bytes_each)),
                 resolve_memory_budget(context.control.memory_bytes));
}

BinaryTrainer while_it_may_run(const TrainContext& context, BinaryTrainer trainer) {
  return [&context, trainer = std::move(trainer)](const BinaryTask& task) {
    const StopReason stop = context.must_stop();
    return stop == StopReason::converged ? trainer(task)
                                         : untrained(task, context.options.task, stop);
  };
}

std::vector<Index> KernelMachine::support_rows() const {
  std::vector<Index> rows;
  for (const TrainedMachine& machine : machines)
    rows.insert(rows.end(), machine.rows.begin(), machine.rows.end());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

namespace {

// Of an SVM on a few rows, with its part of the model (measured).
constexpr Index kMachineBytes = 700;

// The solver goes over its points in their own order, again and again. Rows of a mapped file are
// copied into that order once, so that the disk is read from one end to the other.
BinaryResult train_ordered(const TrainingSet& data, const BinaryTask& task,
                           const TrainedMachine* start, const BinarySettings& settings,
                           const RunControl& control, const qp::StatusCallback& on_status) {
  const Matrix& features = data.features;
  if (!features.is_mapped() || start != nullptr)
    return train_binary(features, data.cost, task, start, settings, control, on_status);
  const Matrix ordered = copy_rows(features, task.rows, "ordering the rows", control);
  RowVector<double> cost(task.rows.get_allocator());
  cost.reserve(task.rows.size());
  for (const Index row : task.rows) cost.push_back(data.cost[usize(row)]);
  BinaryTask own = task;
  std::iota(own.rows.begin(), own.rows.end(), 0);
  BinaryResult result = train_binary(ordered, cost, own, nullptr, settings, control, on_status);
  for (Index& row : result.machine.rows) row = task.rows[usize(row)];
  return result;
}

}  // namespace

KernelMachine train_kernel_machine(const TrainingSet& data, std::span<const Index> rows,
                                   const TrainContext& context, const KernelMachine* start,
                                   bool keeps_state) {
  KernelMachine result;
  result.decision = decision_for(data, context.options);
  const Index count = num_machines(result.decision, data.num_classes);
  TrainProgress progress(context.control, count, context.options.eps);
  require_room_for_results(count, kMachineBytes, context);
  const KernelRoom room =
      room_for_each(data, static_cast<Index>(rows.size()), context,
                    std::min<Index>(count, resolve_threads(context.control.threads)), keeps_state);
  const BinaryTrainer trainer = [&](const BinaryTask& given) {
    BinaryTask task = ordered_by_content(data.features, data.cost, given);
    BinarySettings own = binary_settings(data, context, room.cache_bytes);
    std::vector<Index> sample;
    for (const std::size_t place : far_sample(task)) sample.push_back(task.rows[place]);
    own.leaves_far_out = has_many_far_pairs(data.kernel, data.features, sample,
                                            static_cast<Index>(task.rows.size()));
    if (keeps_state) own.checkpoint_name = checkpoint_name(task.index);
    if (*own.leaves_far_out) task = near_rows_together(data.features, task);
    const TrainedMachine* from = start == nullptr ? nullptr : &start->machines[usize(task.index)];
    BinaryResult one = train_ordered(data, task, from, own, room.control,
                                     [&](const qp::Status& status) { progress.update(status); });
    progress.machine_done();
    return one;
  };

  // A start is as good as what it leads to, and costs no more to keep than to leave.
  std::vector<BinaryResult> results =
      train_machines(data, rows, result.decision,
                     start == nullptr ? while_it_may_run(context, trainer) : trainer, room.store);
  result.convergence = progress.convergence();
  result.report.machines = 0;
  for (BinaryResult& one : results) {
    add_machine(one.stats, &result.report);
    result.machines.push_back(std::move(one.machine));
  }
  return result;
}

std::string checkpoint_name(Index machine) { return fmt::format("svm-{}", machine); }

KernelMachine train_kernel_machine(const TrainingSet& data, const TrainContext& context,
                                   const KernelMachine* start, bool keeps_state) {
  RowVector<Index> rows(usize(data.rows()), data.cost.get_allocator());
  std::iota(rows.begin(), rows.end(), 0);
  return train_kernel_machine(data, rows, context, start, keeps_state);
}

KernelMachine machine_on_rows(const KernelExpansion& expansion, std::span<const Index> rows) {
  KernelMachine machine;
  machine.decision = expansion.parts().decision;
  for (Index m = 0; m < expansion.num_machines(); ++m) {
    TrainedMachine& one = machine.machines.emplace_back();
    one.offset = expansion.parts().offsets[usize(m)];
    for (const Segment& segment : expansion.segments(m)) {
      for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
        one.rows.push_back(rows[usize(s)]);
        one.coefficients.push_back(
            expansion.parts()
                .coefficients[usize(segment.coefficient_begin + s - segment.sv_begin)]);
      }
    }
  }
  return machine;
}

std::shared_ptr<const KernelExpansion> make_expansion(const TrainingSet& data,
                                                      const KernelMachine& machine,
                                                      const RunControl* control) {
  return make_expansion(data.kernel, data.features, machine.machines, machine.decision, data.codes,
                        data.num_classes, control);
}

MethodResult expansion_result(const TrainingSet& data, KernelMachine machine,
                              const RunControl& control) {
  MethodResult result;
  result.machine = make_expansion(data, machine, &control);
  result.report = std::move(machine.report);
  result.report.support_rows =
      expansion_rows(data.rows(), machine.machines, machine.decision, data.codes);
  return result;
}

}  // namespace tamis

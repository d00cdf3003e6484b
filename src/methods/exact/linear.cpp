#include "methods/exact/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "linear/coordinate_descent.hpp"
#include "methods/common/all_rows.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/train_progress.hpp"
#include "model/linear_machine.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/row_order.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Numbers for each row, in bytes, besides those of the solver: the task twice, its keys, and costs.
constexpr Index kTaskRowBytes = 72;

struct LinearRoom {
  bool has_copies = false;  // a shuffled copy of the rows for each machine that trains
  RowStore store;
};

// Asked before anything with a place for every column is made.
LinearRoom room_for_each(const TrainingSet& data, const TrainContext& context, Index machines,
                         Index at_once) {
  const Index budget = resolve_memory_budget(context.control.memory_bytes);
  // Weights in the solver, and of every machine twice.
  require_column_memory("training", data.features.cols(),
                        static_cast<Index>(sizeof(double)) * (at_once + 2 * machines), budget / 4);
  const Index in_use = resident_memory_bytes();
  const Index work =
      checked_product(linear::memory_bytes(data.rows(), data.features.cols()), at_once);
  require_memory(fmt::format("training on {} of {}", counted(data.rows(), "row"),
                             counted(data.features.cols(), "feature")),
                 checked_sum(in_use, work), budget);
  const Index of_rows =
      checked_product(checked_sum(linear::point_bytes(data.rows(), data.features.cols()),
                                  checked_product(data.rows(), kTaskRowBytes)),
                      at_once);
  LinearRoom room;
  room.store = RowStore::for_bytes(checked_sum(work, of_rows), context.control);
  room.has_copies =
      !room.store.is_on_disk() &&
      checked_product(data.features.size_bytes(), at_once) < budget - in_use - work - of_rows;
  return room;
}

MethodResult train_alone(const TrainingSet& data, const TrainContext& context) {
  const Index cols = data.features.cols();
  LinearParts parts;
  parts.num_features = cols;
  parts.decision = decision_for(data, context.options);
  const Index machines = num_machines(parts.decision, data.num_classes);
  const LinearRoom room =
      room_for_each(data, context, machines, std::min<Index>(machines, loop_threads()));
  parts.weights.resize(usize(checked_product(machines, cols)));
  parts.offsets.resize(usize(machines));
  TrainProgress progress(context.control, machines, context.options.eps);
  std::vector<Index> support_rows(usize(machines));

  const BinaryTrainer trainer = [&](const BinaryTask& given) {
    const BinaryTask task = ordered_by_content(data.features, data.cost, given);
    RowVector<double> cost(room.store);
    cost.reserve(task.rows.size());
    for (const Index row : task.rows) cost.push_back(data.cost[usize(row)]);
    linear::Problem problem;
    problem.features = data.features;
    problem.rows = task.rows;
    problem.target = task.targets;
    problem.cost = cost;
    problem.task = data.is_regression() ? Task::regression : Task::classification;
    problem.loss = context.options.loss;
    problem.tube = context.options.tube_or_default();
    problem.bias = context.options.bias;
    // Rows of a mapped file would be read from all over the disk, in every epoch.
    problem.copies_rows = room.has_copies || data.features.is_mapped();
    problem.control = &context.control;
    problem.store = room.store;
    qp::StopCheck stop(limits_now(context), context.control);
    const linear::Solution solution =
        linear::solve(problem, stop, context.options.seed,
                      [&](const qp::Status& status) { progress.update(status); });
    progress.machine_done();
    std::copy(solution.weights.begin(), solution.weights.end(),
              parts.weights.begin() + task.index * cols);
    support_rows[usize(task.index)] = solution.support_vectors;
    BinaryResult result;
    result.machine.offset = solution.offset;
    result.stats.objective = solution.objective;
    result.stats.gap = solution.gap;
    result.stats.violation = solution.violation;
    result.stats.iterations = solution.epochs;
    result.stats.bounded_support_vectors = solution.bounded_support_vectors;
    result.stats.stop_reason = solution.stop_reason;
    return result;
  };

  RowVector<Index> rows(usize(data.rows()), room.store);
  std::iota(rows.begin(), rows.end(), 0);
  MethodResult result;
  result.report.machines = 0;
  bool beyond_precision = false;
  const std::vector<BinaryResult> results =
      train_machines(data, rows, parts.decision, while_it_may_run(context, trainer), room.store);
  for (std::size_t m = 0; m < results.size(); ++m) {
    const BinaryResult& one = results[m];
    parts.offsets[m] = one.machine.offset;
    add_machine(one.stats, &result.report);
    beyond_precision = beyond_precision || one.stats.stop_reason == StopReason::precision_limit;
  }
  if (beyond_precision) {
    result.report.warnings.emplace_back(
        "the tolerance is beyond double precision for values of this size and this cost: scale the "
        "columns (scale minmax), or lower the cost");
  }
  result.report.details.emplace_back(
      "support_rows", std::accumulate(support_rows.begin(), support_rows.end(), 0.0));
  result.machine = std::make_shared<const LinearMachine>(std::move(parts));
  return result;
}

}  // namespace

// Coordinate descent goes from row to row: on several ranks, the first one does it with the rows of
// all.
MethodResult train_linear(const TrainingSet& data, const TrainContext& context) {
  Group& group = group_of(context.control);
  if (group.size() == 1) return train_alone(data, context);
  const LocalContext local(context);
  Coordinator coordinator(group);
  const AllRows all(data, coordinator);
  MethodResult result;
  coordinator.run([&] {
    TrainingSet whole = all.facts();
    whole.features = all.all_features("the method linear", context.control);
    result = train_alone(whole, local.context());
  });
  return result;
}

Method linear_method() {
  return {.info = {.name = "linear",
                   .summary = "linear SVM without a kernel, by dual coordinate descent",
                   .kind = MethodKind::exact,
                   .uses_kernel = false,
                   .trains_together = true,
                   .options = {"multiclass", "bias"}},
          .train = train_linear,
          .promises = {.is_optimum = true, .ignores_row_order = true, .copies_are_weights = true},
          .tuning = {.gamma = false},
          .growth = {1, 1.5},
          .worth_a_trial = [](const DataFacts&, const TrainOptions& options) {
            return options.kernel != KernelType::precomputed;
          }};
}

}  // namespace tamis

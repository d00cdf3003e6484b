#include "methods/exact/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/message.hpp"
#include "base/mix.hpp"
#include "base/parallel.hpp"
#include "linear/block_sums.hpp"
#include "linear/solve.hpp"
#include "methods/common/all_rows.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/train_progress.hpp"
#include "methods/exact/linear_task.hpp"
#include "model/linear_machine.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/deal_rows.hpp"
#include "svm/row_order.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Numbers for each row, in bytes, besides those of the solver: the task twice, keys, costs and
// copies.
constexpr Index kTaskRowBytes = 112;

// What each of many SVMs leaves behind, without its weights.
constexpr Index kSolutionBytes = 256;

struct LinearRoom {
  bool has_copies = false;  // a copy of the rows for each SVM that trains
  RowStore store;
};

// Asked before anything with a place for every column is made.
LinearRoom room_for_each(const TrainingSet& data, const TrainContext& context, Index machines,
                         Index at_once) {
  const Index budget = resolve_memory_budget(context.control.memory_bytes);
  require_room_for_results(machines, kSolutionBytes, context);
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

/// Puts the binary SVMs together.
class LinearModel {
 public:
  LinearModel(const TrainingSet& data, const TrainOptions& options)
      : cols_(data.features.cols()), decision_(decision_for(data, options)) {
    parts_.num_features = cols_;
    parts_.decision = decision_;
    machines_ = num_machines(decision_, data.num_classes);
    support_rows_.resize(usize(machines_));
  }

  Decision decision() const { return decision_; }
  Index machines() const { return machines_; }
  void allocate() {
    parts_.weights.resize(usize(checked_product(machines_, cols_)));
    parts_.offsets.resize(usize(machines_));
  }
  void set_weights(Index machine, const linear::Solution& solution) {
    std::copy(solution.weights.begin(), solution.weights.end(),
              parts_.weights.begin() + machine * cols_);
    support_rows_[usize(machine)] = solution.support_vectors;
  }

  MethodResult finish(const std::vector<BinaryResult>& results) {
    MethodResult result;
    result.report.machines = 0;
    bool beyond_precision = false;
    for (std::size_t m = 0; m < results.size(); ++m) {
      const BinaryResult& one = results[m];
      parts_.offsets[m] = one.machine.offset;
      add_machine(one.stats, &result.report);
      beyond_precision = beyond_precision || one.stats.stop_reason == StopReason::precision_limit;
    }
    if (beyond_precision) {
      result.report.warnings.emplace_back(
          "the tolerance is beyond double precision for values of this size and this cost: scale "
          "the columns (scale minmax), or lower the cost");
    }
    result.report.details.emplace_back(
        "support_rows", std::accumulate(support_rows_.begin(), support_rows_.end(), 0.0));
    result.machine = std::make_shared<const LinearMachine>(std::move(parts_));
    return result;
  }

 private:
  Index cols_;
  Decision decision_;
  Index machines_ = 0;
  LinearParts parts_;
  std::vector<Index> support_rows_;
};

// A task with fewer values than two blocks have is solved by one rank, whatever the others are.
Index blocks_of_task(Index task_values, Index cols, Index blocks) {
  return linear::num_blocks(task_values, cols) > 1 ? blocks : 1;
}

MethodResult train_alone(const TrainingSet& data, const TrainContext& context) {
  LinearModel model(data, context.options);
  const Index at_once = std::min<Index>(model.machines(), loop_threads());
  const LinearRoom room = room_for_each(data, context, model.machines(), at_once);
  model.allocate();
  TrainProgress progress(context.control, model.machines(), context.options.eps);
  const Index cols = data.features.cols();
  const Index blocks = linear::num_blocks(data.features.num_stored(), cols);
  const BinaryTrainer trainer = [&](const BinaryTask& task) {
    const Index values = num_values(data.features, task.rows);
    const LinearSettings settings{blocks_of_task(values, cols, blocks), nullptr, room.has_copies,
                                  room.store};
    const linear::Solution solution = solve_linear(
        data, task, settings, context, [&](const qp::Status& status) { progress.update(status); });
    progress.machine_done();
    model.set_weights(task.index, solution);
    return linear_result(solution);
  };
  RowVector<Index> rows(usize(data.rows()), room.store);
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<BinaryResult> results =
      train_machines(data, rows, model.decision(), while_it_may_run(context, trainer), room.store);
  return model.finish(results);
}

/// Rows spread over several ranks: large problems are solved by all together, small ones by one
/// rank each.
class LinearTogether {
 public:
  LinearTogether(const TrainingSet& mine, const TrainContext& context)
      : context_(context),
        local_(context),
        group_(group_of(context.control)),
        cols_(mine.features.cols()),
        blocks_(linear::num_blocks(sum_of_all(group_, mine.features.num_stored()), cols_)),
        dealt_(deal(mine)),
        model_(dealt_.set, context.options),
        results_(usize(model_.machines())) {}

  MethodResult train() {
    room_ = room_for_each(dealt_.set, context_, model_.machines(), 1);
    model_.allocate();
    TrainProgress progress(context_.control, model_.machines(), context_.options.eps);
    for (Index m = 0; m < model_.machines(); ++m) {
      const BinaryTask task = binary_task(dealt_.set, model_.decision(), m);
      const Index values = sum_of_all(group_, num_values(dealt_.set.features, task.rows));
      const StopReason stop = largest_of_all(group_, context_.must_stop());
      if (stop != StopReason::converged) {
        results_[usize(m)] = untrained_together(task, stop);
      } else if (blocks_of_task(values, cols_, blocks_) == 1) {
        collect(task);
        if (std::ssize(small_) == wave() || m + 1 == model_.machines()) train_small();
      } else {
        const linear::Solution solution =
            solve_linear(dealt_.set, task, {blocks_, &group_, room_.has_copies, room_.store},
                         context_, [&](const qp::Status& status) { progress.update(status); });
        model_.set_weights(m, solution);
        results_[usize(m)] = linear_result(solution);
      }
      progress.machine_done();
    }
    train_small();
    MethodResult result = model_.finish(results_);
    result.report.tables.push_back(work_of_all());
    return result;
  }

 private:
  struct SmallTask {
    Index index = 0;
    DealtRows rows;  ///< on the rank that trains it
  };
  DealtRows deal(const TrainingSet& mine) const {
    std::vector<int> ranks;
    for (const std::uint64_t hash : hash_rows(mine.features))
      ranks.push_back(
          linear::owner_of_block(block_of_row(mix(hash), blocks_), blocks_, group_.size()));
    return deal_rows(mine, ranks, group_);
  }

  ReportTable work_of_all() const {
    struct Done {
      Index rows;
      Index values;
      std::int64_t messages;
      std::int64_t bytes_sent;
    };
    ReportTable table{
        "work_by_process", {"process", "rows", "values", "messages", "bytes_sent"}, {}};
    const Matrix& features = dealt_.set.features;
    for (const auto& [rows, values, messages, bytes_sent] :
         gather_values(group_, Done{features.rows(), features.num_stored(), group_.num_calls(),
                                    group_.bytes_sent()})) {
      table.rows.push_back({static_cast<double>(table.rows.size()), static_cast<double>(rows),
                            static_cast<double>(values), static_cast<double>(messages),
                            static_cast<double>(bytes_sent)});
    }
    return table;
  }

  // Small tasks that are collected before they are trained; the same on all ranks.
  Index wave() const { return 4 * static_cast<Index>(group_.size()); }

  void collect(const BinaryTask& task) {
    const int trainer = static_cast<int>(std::ssize(small_)) % group_.size();
    small_.push_back({task.index, gather_rows(dealt_, task.rows, group_, trainer)});
  }

  void train_small() {
    std::vector<linear::Solution> own(small_.size());
    parallel_each(std::ssize(small_), [&](Index k) {
      if (k % group_.size() != group_.rank()) return;
      const SmallTask& small = small_[usize(k)];
      const BinaryTask task = binary_task(small.rows.set, model_.decision(), small.index);
      isolated([&] {
        own[usize(k)] =
            solve_linear(small.rows.set, task, {1, nullptr, room_.has_copies, room_.store},
                         local_.context(), {});
      });
    });
    for (std::size_t k = 0; k < small_.size(); ++k) {
      const int trainer = static_cast<int>(k) % group_.size();
      MessageWriter writer;
      const linear::Solution& solution = own[k];
      writer.put_list(solution.weights);
      writer.put(solution.support_vectors);
      writer.put(solution.offset);
      writer.put(linear_result(solution).stats);
      const Group::Message message = group_.broadcast(writer.take(), trainer);
      MessageReader reader(message);
      linear::Solution known;
      known.weights = reader.get_list<double>();
      known.support_vectors = reader.get<Index>();
      BinaryResult& result = results_[usize(small_[k].index)];
      result.machine.offset = reader.get<double>();
      result.stats = reader.get<MachineStats>();
      model_.set_weights(small_[k].index, known);
    }
    small_.clear();
  }

  BinaryResult untrained_together(const BinaryTask& task, StopReason stop) const {
    ExactSum sum;
    for (const double target : task.targets) sum.add(target);
    BinaryTask all;  // with the mean of all targets
    const Index rows = sum_of_all(group_, std::ssize(task.rows));
    if (rows > 0) all.targets = {sum_of_all(group_, sum).value() / static_cast<double>(rows)};
    return untrained(all, context_.options.task, stop);
  }

  const TrainContext& context_;
  const LocalContext local_;
  Group& group_;
  Index cols_;
  Index blocks_;
  const DealtRows dealt_;
  LinearModel model_;
  LinearRoom room_;
  std::vector<BinaryResult> results_;
  std::vector<SmallTask> small_;
};

}  // namespace

MethodResult train_linear(const TrainingSet& data, const TrainContext& context) {
  if (group_of(context.control).size() == 1) return train_alone(data, context);
  return LinearTogether(data, context).train();
}

Method linear_method() {
  return {.info = {.name = "linear",
                   .summary = "linear SVM without a kernel",
                   .kind = MethodKind::exact,
                   .uses_kernel = false,
                   .trains_together = true,
                   .options = {"multiclass", "bias"}},
          .train = train_linear,
          .promises = {.is_optimum = true, .ignores_row_order = true, .copies_are_weights = true},
          .tuning = {.gamma = false},
          .growth = {1, 1.5},
          .worth_a_trial = [](const DataFacts&, const TrainOptions& options) {
            return options.kernel_or_default() != KernelType::precomputed;
          }};
}

}  // namespace tamis

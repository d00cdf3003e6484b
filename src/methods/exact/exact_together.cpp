#include "methods/exact/exact_together.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "gram/near_points.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/train_progress.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/deal_rows.hpp"
#include "svm/row_order.hpp"

namespace tamis {
namespace {

// A binary SVM whose rows are named by their positions among those of all ranks.
struct PlacedMachine {
  Index index = 0;  // among those of the model
  TrainedMachine machine;
  MachineStats stats;
};

class Trainer {
 public:
  Trainer(const TrainingSet& data, const TrainContext& context)
      : context_(context),
        group_(group_of(context.control)),
        dealt_(deal_by_content(data, group_)),
        decision_(decision_for(data, context.options)),
        progress_(context.control, num_machines(decision_, data.num_classes), context.options.eps) {
  }

  MethodResult train();

 private:
  /// For a task that has no boundary to find, or no time left: as on one rank.
  std::optional<PlacedMachine> constant(const BinaryTask& task, StopReason stop) const;
  bool has_many_far_pairs(const BinaryTask& ordered, Index count) const;
  /// On all ranks together.
  PlacedMachine train_large(const BinaryTask& task, Index rows);
  /// Those that fit into one stored kernel matrix: each on one rank.
  void collect_small(const BinaryTask& task);
  void train_small();
  /// Of every rank, by index.
  std::vector<PlacedMachine> machines_of_all() const;
  MethodResult put_together(const std::vector<PlacedMachine>& machines);
  /// What each rank did for the machines that all trained together.
  ReportTable work_of_all() const;

  struct SmallTask {
    DealtRows rows;
    BinaryTask task;
  };

  const TrainContext& context_;
  Group& group_;
  const DealtRows dealt_;
  const Decision decision_;
  TrainProgress progress_;
  std::vector<SmallTask> small_;
  std::vector<PlacedMachine> machines_;  // what this rank has of each
  RankWork own_work_;
};

std::optional<PlacedMachine> Trainer::constant(const BinaryTask& task, StopReason stop) const {
  ExactSum own_sum;
  for (const double target : task.targets) own_sum.add(target);
  const double sum = sum_of_all(group_, own_sum).value();
  const auto rows = static_cast<double>(sum_of_all(group_, std::ssize(task.targets)));
  const bool is_regression = dealt_.set.is_regression();
  PlacedMachine result;
  result.index = task.index;
  if (stop != StopReason::converged) {
    result.machine.offset = is_regression ? sum / rows : sum >= 0 ? 1 : -1;
    result.stats.stop_reason = stop;
    result.stats.gap = std::numeric_limits<double>::infinity();
    result.stats.violation = std::numeric_limits<double>::infinity();
    return result;
  }
  if (is_regression || std::abs(sum) < rows) return std::nullopt;
  result.machine.offset = rows == 0 ? 0 : sum / rows;  // every target is this one
  return result;
}

bool Trainer::has_many_far_pairs(const BinaryTask& ordered, Index count) const {
  struct Sampled {
    std::uint64_t key;
    Index position;
    bool operator<(const Sampled& other) const { return key < other.key; }
  };
  std::vector<Sampled> sample;
  for (const std::size_t k : far_sample(ordered))
    sample.push_back({ordered.keys[k], dealt_.positions[usize(ordered.rows[k])]});
  sample = gather_all(group_, std::move(sample));
  std::sort(sample.begin(), sample.end());
  sample.resize(std::min(sample.size(), usize(kFarSample)));
  std::vector<Index> rows;
  for (const Sampled& one : sample) {
    const auto found =
        std::lower_bound(dealt_.positions.begin(), dealt_.positions.end(), one.position);
    if (found != dealt_.positions.end() && *found == one.position)
      rows.push_back(static_cast<Index>(found - dealt_.positions.begin()));
  }
  std::sort(rows.begin(), rows.end());
  const DealtRows gathered = gather_rows(dealt_, rows, group_);
  std::vector<Index> all(usize(gathered.set.rows()));
  std::iota(all.begin(), all.end(), 0);
  return tamis::has_many_far_pairs(dealt_.set.kernel, gathered.set.features, all, count);
}

PlacedMachine Trainer::train_large(const BinaryTask& given, Index rows) {
  const TrainingSet& set = dealt_.set;
  BinaryTask task = ordered_by_content(set.features, set.cost, given);
  const Index cache_bytes = cache_for_each(set, static_cast<Index>(task.rows.size()), context_, 1);
  BinarySettings settings = binary_settings(set, context_, cache_bytes);
  settings.leaves_far_out = has_many_far_pairs(task, rows);
  settings.checkpoint_name = checkpoint_name(given.index);
  if (*settings.leaves_far_out) task = near_rows_together(set.features, task);
  BinaryResult result =
      train_binary_together(set.features, set.cost, task, settings, context_.control,
                            [&](const qp::Status& status) { progress_.update(status); });
  own_work_.add(result.own_work);
  for (Index& row : result.machine.rows) row = dealt_.positions[usize(row)];
  return {given.index, std::move(result.machine), result.stats};
}

void Trainer::collect_small(const BinaryTask& task) {
  const int trainer = static_cast<int>(task.index % group_.size());
  DealtRows rows = gather_rows(dealt_, task.rows, group_, trainer);
  if (group_.rank() != trainer) return;
  BinaryTask whole = binary_task(rows.set, decision_, task.index);
  small_.push_back({std::move(rows), std::move(whole)});
}

void Trainer::train_small() {
  std::vector<PlacedMachine> trained(small_.size());
  parallel_each(static_cast<Index>(small_.size()), [&](Index k) {
    const DealtRows& rows = small_[usize(k)].rows;
    const BinaryTask& task = small_[usize(k)].task;
    const TrainingSet& set = rows.set;
    RunControl alone_control = context_.control;
    alone_control.group = nullptr;
    BinaryResult result = isolated([&] {
      return train_binary(set.features, set.cost, ordered_by_content(set.features, set.cost, task),
                          nullptr, binary_settings(set, context_, 0), alone_control, {});
    });
    for (Index& row : result.machine.rows) row = rows.positions[usize(row)];
    trained[usize(k)] = {task.index, std::move(result.machine), result.stats};
  });
  machines_.insert(machines_.end(), trained.begin(), trained.end());
}

std::vector<PlacedMachine> Trainer::machines_of_all() const {
  struct Term {
    Index index;
    Index position;
    double coefficient;
  };
  struct Facts {
    Index index;
    double offset;
    MachineStats stats;
  };
  std::vector<Term> terms;
  std::vector<Facts> facts;
  for (const PlacedMachine& one : machines_) {
    facts.push_back({one.index, one.machine.offset, one.stats});
    for (std::size_t k = 0; k < one.machine.rows.size(); ++k)
      terms.push_back({one.index, one.machine.rows[k], one.machine.coefficients[k]});
  }
  std::vector<PlacedMachine> all(usize(num_machines(decision_, dealt_.set.num_classes)));
  for (const Facts& fact : gather_all(group_, std::move(facts))) {
    PlacedMachine& one = all[usize(fact.index)];
    one.index = fact.index;
    one.machine.offset = fact.offset;  // the same from all ranks that had a part in it
    one.stats = fact.stats;
  }
  terms = gather_all(group_, std::move(terms));
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.position < b.position; });
  for (const Term& term : terms) {
    all[usize(term.index)].machine.rows.push_back(term.position);
    all[usize(term.index)].machine.coefficients.push_back(term.coefficient);
  }
  return all;
}

// The support vectors of all ranks as one small training set, on which the model is built as on one
// rank.
MethodResult Trainer::put_together(const std::vector<PlacedMachine>& machines) {
  std::vector<Index> used;
  for (const PlacedMachine& one : machines)
    used.insert(used.end(), one.machine.rows.begin(), one.machine.rows.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<Index> own;
  for (Index i = 0; i < dealt_.set.rows(); ++i) {
    if (std::binary_search(used.begin(), used.end(), dealt_.positions[usize(i)])) own.push_back(i);
  }
  const DealtRows support = gather_rows(dealt_, own, group_);
  KernelMachine whole;
  whole.decision = decision_;
  whole.report.machines = 0;
  for (const PlacedMachine& one : machines) {
    add_machine(one.stats, &whole.report);
    TrainedMachine machine = one.machine;
    for (Index& row : machine.rows) {
      row = static_cast<Index>(std::lower_bound(used.begin(), used.end(), row) - used.begin());
    }
    whole.machines.push_back(std::move(machine));
  }
  MethodResult result = expansion_result(support.set, std::move(whole), context_.control);
  for (Index& row : result.report.support_rows) row = used[usize(row)];
  ReportTable convergence = progress_.convergence();
  if (!convergence.rows.empty()) result.report.tables.push_back(std::move(convergence));
  result.report.tables.push_back(work_of_all());
  return result;
}

ReportTable Trainer::work_of_all() const {
  struct Done {
    RankWork work;
    std::int64_t messages;
    std::int64_t bytes_sent;
  };
  ReportTable table{"work_by_process",
                    {"process", "rows", "kernel_evaluations", "blocks", "block_evaluations",
                     "block_seconds", "messages", "bytes_sent"},
                    {}};
  for (const auto& [work, messages, bytes_sent] :
       gather_values(group_, Done{own_work_, group_.num_calls(), group_.bytes_sent()})) {
    table.rows.push_back({static_cast<double>(table.rows.size()), static_cast<double>(work.rows),
                          static_cast<double>(work.kernel_evaluations),
                          static_cast<double>(work.blocks),
                          static_cast<double>(work.block_evaluations), work.block_seconds,
                          static_cast<double>(messages), static_cast<double>(bytes_sent)});
  }
  return table;
}

MethodResult Trainer::train() {
  const qp::SolverOptions solver;
  for (Index m = 0; m < num_machines(decision_, dealt_.set.num_classes); ++m) {
    const BinaryTask task = binary_task(dealt_.set, decision_, m);
    const StopReason stop = largest_of_all(group_, context_.must_stop());
    const Index rows = sum_of_all(group_, std::ssize(task.rows));
    if (auto machine = constant(task, stop)) {
      machines_.push_back(*std::move(machine));
    } else if (rows <= solver.stored_size) {
      collect_small(task);
    } else {
      machines_.push_back(train_large(task, rows));
      progress_.machine_done();
    }
  }
  train_small();
  return put_together(machines_of_all());
}

}  // namespace

MethodResult train_exact_together(const TrainingSet& data, const TrainContext& context) {
  return Trainer(data, context).train();
}

}  // namespace tamis

#include "methods/ensemble/random_subset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/ensemble/binary_ensemble.hpp"
#include "model/weighted_ensemble.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/row_order.hpp"
#include "svm/train_binary.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// What one binary problem came to.
struct Part {
  std::vector<EnsembleMember> members;
  double offset = 0;
  EnsembleRecord record;
};

// What a binary problem of few rows leaves behind until all are put together (measured).
constexpr Index kPartBytes = 600;
constexpr Index kMemberBytes = 1000;

// Numbers for each row: its hash and its place, and for every binary problem that trains at the
// same time its tasks in both orders, what they are sorted by, its class and weight.
constexpr Index kRowBytes = 16;
constexpr Index kTaskRowBytes = 68;

// For each machine that trains, when the values of all members are kept beside. `rows`: of all
// ranks.
RowRoom room_for_members(const TrainingSet& data, Index rows, const TrainContext& context,
                         Index at_once) {
  const EnsembleOptions& options = context.options.ensemble;
  const Index subset = resolve_subset_rows(options.subset_rows, rows);
  const Index scored = resolve_score_rows(options.score_rows, rows);
  const Index threads = loop_threads();
  const Index work = checked_sum(
      checked_product(at_once,
                      EnsembleWeights::work_bytes(options.combine, scored, options.members)),
      checked_product(threads, binary_work_bytes(data.features, subset)));
  return room_for_rows(fmt::format("an ensemble of {} scored on {} (score-rows)",
                                   counted(options.members, "member"), counted(scored, "row")),
                       checked_product(rows, kRowBytes + at_once * kTaskRowBytes), work, context,
                       threads);
}

std::shared_ptr<const Machine> make_ensemble(const AllRows& rows, const EnsembleOptions& options,
                                             Decision decision, const std::vector<Part>& parts) {
  const TrainingSet& data = rows.facts();
  std::vector<Index> used;
  for (const Part& part : parts) {
    for (const EnsembleMember& member : part.members)
      used.insert(used.end(), member.machine.rows.begin(), member.machine.rows.end());
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const auto position = [&](Index row) {
    return std::lower_bound(used.begin(), used.end(), row) - used.begin();
  };
  EnsembleParts ensemble;
  ensemble.kernel = data.kernel;
  ensemble.decision = decision;
  ensemble.support_vectors = rows.features(used);
  ensemble.member_begin = {0};
  ensemble.term_begin = {0};
  for (const Part& part : parts) {
    ensemble.offsets.push_back(part.offset);
    for (const EnsembleMember& member : part.members) {
      ensemble.weights.push_back(member.weight);
      ensemble.gammas.push_back(member.kernel.gamma);
      if (options.mixed_kernels)
        ensemble.kernel_types.push_back(static_cast<Index>(member.kernel.type));
      if (options.member_value == MemberValue::probability) {
        ensemble.sigmoid_slopes.push_back(member.sigmoid.slope);
        ensemble.sigmoid_intercepts.push_back(member.sigmoid.intercept);
      }
      ensemble.member_offsets.push_back(member.machine.offset);
      for (const Index row : member.machine.rows) ensemble.term_vectors.push_back(position(row));
      ensemble.coefficients.insert(ensemble.coefficients.end(), member.machine.coefficients.begin(),
                                   member.machine.coefficients.end());
      ensemble.term_begin.push_back(static_cast<Index>(ensemble.coefficients.size()));
    }
    ensemble.member_begin.push_back(static_cast<Index>(ensemble.weights.size()));
  }
  return std::make_shared<const WeightedEnsemble>(std::move(ensemble));
}

// Seconds of machines that train side by side are summed, and then cut to the time that passed.
void add_phases(const std::vector<Part>& parts, double passed, TrainReport* report) {
  double members = 0;
  double scoring = 0;
  double combining = 0;
  for (const Part& part : parts) {
    members += part.record.member_seconds;
    scoring += part.record.scoring_seconds;
    combining += part.record.combining_seconds;
  }
  const double share = std::min(1.0, passed / std::max(1e-9, members + scoring + combining));
  report->phase_seconds = {
      {"members", share * members}, {"scoring", share * scoring}, {"combining", share * combining}};
}

void add_tables(const std::vector<Part>& parts, TrainReport* report) {
  ReportTable members{
      "members",
      {"binary_svm", "member", "cost", "gamma", "support_vectors", "accuracy", "training_accuracy"},
      {}};
  ReportTable search{"search", {"binary_svm", "cost", "gamma", "error"}, {}};
  const auto add = [](ReportTable& table, std::size_t machine, const std::vector<double>& values) {
    std::vector<double> row{static_cast<double>(machine)};
    row.insert(row.end(), values.begin(), values.end());
    table.rows.push_back(std::move(row));
  };
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const auto& values : parts[p].record.members) add(members, p + 1, values);
    for (const auto& values : parts[p].record.search) add(search, p + 1, values);
  }
  note_listed(std::ssize(parts), report);
  report->tables.push_back(std::move(members));
  if (!search.rows.empty()) report->tables.push_back(std::move(search));
}

// On the first rank.
MethodResult train_parts(const AllRows& all, CandidateJobs& jobs, const RowStore& store,
                         const TrainContext& context) {
  const Stopwatch watch;
  jobs.open_checkpoint();
  const TrainingSet& data = all.facts();
  const Decision decision = decision_for(data, context.options);
  const Index machines = num_machines(decision, data.num_classes);
  const RowVector<std::uint64_t> hashes = all.hashes(store);
  // A cancelled run still makes a model.
  ProgressMeter meter(unstopped(context.control), "train",
                      machines * context.options.ensemble.members);
  std::vector<Part> parts(usize(machines));
  const BinaryTrainer trainer = [&](const BinaryTask& given) {
    // Rows are drawn, and weights solved for, by their places: these depend on what the rows hold.
    const BinaryTask task = ordered_by_content(hashes, data.cost, given);
    BinaryEnsembleTrainer one(all, jobs, task, context);
    one.run(meter);
    parts[usize(task.index)] = {one.members(), one.offset(), one.record()};
    return BinaryResult();
  };
  const std::vector<BinaryResult> results =
      train_machines_in_turn(all, decision, while_it_may_run(context, trainer), store);
  for (std::size_t m = 0; m < results.size(); ++m) {
    const StopReason stop = results[m].stats.stop_reason;
    if (stop == StopReason::converged) continue;
    parts[m].offset = results[m].machine.offset;
    parts[m].record.work.stop_reason = stop;
  }

  MethodResult result;
  TrainReport& report = result.report;
  report.machines = 0;
  std::int64_t epochs = 0;
  Index score_rows = 0;
  Index subset_rows = 0;
  for (const Part& part : parts) {
    add_stats(part.record.work, &report);
    report.machines += std::ssize(part.record.iterations);
    report.machine_iterations.insert(report.machine_iterations.end(),
                                     part.record.iterations.begin(), part.record.iterations.end());
    epochs += part.record.combining_epochs;
    score_rows = std::max(score_rows, part.record.score_rows);
    subset_rows = std::max(subset_rows, part.record.subset_rows);
  }
  result.machine = make_ensemble(all, context.options.ensemble, decision, parts);
  const auto& ensemble = dynamic_cast<const WeightedEnsemble&>(*result.machine);
  report.details = {
      {"members_kept", static_cast<double>(ensemble.num_members())},
      {"subset_rows", static_cast<double>(subset_rows)},
      {"score_rows", static_cast<double>(score_rows)},
      {"combining_epochs", static_cast<double>(epochs)},
      {"kernel_evaluations_per_row", static_cast<double>(ensemble.evaluations_per_row())}};
  add_tables(parts, &report);
  add_phases(parts, watch.seconds(), &report);
  return result;
}

}  // namespace

MethodResult train_random_subset(const TrainingSet& data, const TrainContext& context) {
  if (data.kernel.type == KernelType::precomputed)
    throw InvalidArgument("random-subset needs features: a precomputed kernel has none");
  const LocalContext local(context);
  Coordinator coordinator(group_of(context.control));
  const AllRows all(data, coordinator);
  const Decision decision = decision_for(data, context.options);
  const Index machines = num_machines(decision, data.num_classes);
  const Index at_once = std::min<Index>(machines, loop_threads());
  const RowRoom room = room_for_members(data, all.total(), context, at_once);
  require_room_for_results(
      machines,
      checked_sum(kPartBytes, checked_product(context.options.ensemble.members, kMemberBytes)),
      context);
  CandidateJobs jobs(all, local.context(), room.cache_bytes);
  MethodResult result;
  coordinator.run([&] { result = train_parts(all, jobs, room.store, local.context()); });
  result.report.stop_reason = std::max(result.report.stop_reason, coordinator.stopped());
  return result;
}

Method random_subset_method() {
  return {.info = {.name = "random-subset",
                   .summary = "ensemble of SVMs on random subsets of the rows",
                   .kind = MethodKind::ensemble,
                   .does_regression = false,
                   .needs_features = true,
                   .trains_together = true,
                   .options = {"multiclass", "members", "candidates", "parameter-draws",
                               "search-trials", "mixed-kernels", "subset-sampling", "member-value",
                               "combine", "combine-cost", "subset-rows", "cost-range",
                               "gamma-range", "score-rows"}},
          .train = train_random_subset,
          .promises = {.ignores_row_order = true}};
}

}  // namespace tamis

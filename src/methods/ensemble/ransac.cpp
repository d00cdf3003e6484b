#include "methods/ensemble/ransac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/message.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "data/row_messages.hpp"
#include "kernels/plain_kernel.hpp"
#include "methods/common/all_rows.hpp"
#include "methods/common/job_keeper.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/ensemble/member_draw.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/expansion_builder.hpp"
#include "svm/train_binary.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kTrialStream = 0x4A25AC;
constexpr std::uint64_t kScoreRows = 1;
constexpr std::uint64_t kTrials = 2;
constexpr Index kAtOnce = 16;

struct Trial {
  Index number = 0;
  MemberDraw draw;
  TrainReport report;                 // of the work, and with the support vectors as rows of all
  KernelMachine machine;              // rows are positions in the draw; no SVMs: it was not trained
  std::vector<std::int32_t> classes;  // of the rows it is scored on
  double error = std::numeric_limits<double>::infinity();  // while it was not scored

  Index support_vectors() const { return std::ssize(report.support_rows); }
};

void put_machine(const KernelMachine& machine, MessageWriter* message) {
  message->put(static_cast<Index>(machine.machines.size()));
  for (const TrainedMachine& one : machine.machines) {
    message->put_list(one.rows);
    message->put_list(one.coefficients);
    message->put(one.offset);
  }
  message->put(stats_of(machine.report));
  message->put(machine.report.machines);
  message->put_list(machine.report.machine_iterations);
}

KernelMachine get_machine(Decision decision, MessageReader* message) {
  KernelMachine machine;
  machine.decision = decision;
  machine.machines.resize(usize(message->get<Index>()));
  for (TrainedMachine& one : machine.machines) {
    one.rows = message->get_list<Index>();
    one.coefficients = message->get_list<double>();
    one.offset = message->get<double>();
  }
  set_stats(message->get<MachineStats>(), &machine.report);
  machine.report.machines = message->get<Index>();
  machine.report.machine_iterations = message->get_list<std::int64_t>();
  return machine;
}

// What every rank does: trains and scores trials.
class TrialJobs {
 public:
  TrialJobs(const AllRows& rows, const TrainContext& context)
      : rows_(rows),
        options_(context.options),
        quiet_(quiet(context.control)),
        watch_(context.watch),
        keep_scored_(rows.coordinator().add([this](std::span<const std::byte> request) {
          scored_ = unpack_rows({request.begin(), request.end()}, rows_.mine().features);
          return Group::Message();
        })),
        keeper_(rows, context),
        jobs_(
            rows,
            [this](TrainingSet part, std::span<const std::byte> request) {
              return train(std::move(part), request);
            },
            &keeper_) {
    share_memory();
  }

  const TrainOptions& options() const { return options_; }
  TrainContext context() const { return {options_, quiet_, watch_}; }

  /// On the first rank.
  void set_score_rows(std::span<const Index> rows) {
    keeper_.open();
    score_print_ = print_of_rows(rows);
    const bool are_all = std::ssize(rows) == rows_.total();
    if (rows_.is_alone()) {
      scored_ = are_all ? rows_.mine().features : rows_.features(rows);
      return;
    }
    std::vector<Index> all(rows.size());
    std::iota(all.begin(), all.end(), 0);
    rows_.coordinator().ask(keep_scored_, pack_rows(rows_.features(rows), all));
  }

  /// On the first rank. `needed`: this one is trained even when the run must stop.
  void run(std::vector<Trial>& trials, Index needed) const {
    std::vector<RowJobs::Job> requests;
    for (const Trial& trial : trials) {
      MessageWriter writer;
      writer.put(trial.number == needed);
      writer.put(score_print_);  // for a checkpoint: the answer depends on these rows
      writer.put(plain(trial.draw.kernel));
      writer.put(trial.draw.cost_factor);
      requests.push_back({trial.draw.positions, writer.take()});
    }
    const std::vector<Group::Message> answers = jobs_.run(requests);
    for (std::size_t k = 0; k < trials.size(); ++k) {
      MessageReader reader(answers[k]);
      const auto missed = reader.get<StopReason>();
      rows_.coordinator().note_stop(missed);
      if (reader.empty()) continue;
      Trial& trial = trials[k];
      trial.machine = get_machine(decision_for(rows_.facts(), options_), &reader);
      trial.report = trial.machine.report;
      trial.report.support_rows = reader.get_list<Index>();
      for (Index& row : trial.report.support_rows) row = trial.draw.positions[usize(row)];
      trial.classes = reader.get_list<std::int32_t>();
    }
  }

 private:
  // Each trial that runs at the same time may use its part of the cache.
  void share_memory() {
    const Index threads = loop_threads();
    const Index budget = resolve_memory_budget(quiet_.memory_bytes);
    const Index rows = resolve_subset_rows(options_.ensemble.subset_rows, rows_.total());
    const Index work = checked_product(threads, binary_work_bytes(rows_.mine().features, rows));
    const Index needed = checked_sum(resident_memory_bytes(), work);
    require_memory(fmt::format("{} on {}", counted(threads, "binary SVM"), counted(rows, "row")),
                   needed, budget);
    const Index left = std::max<Index>(1, (budget - needed) / 2 / threads);
    options_.cache_bytes = std::min(options_.cache_bytes.value_or(left), left);
  }

  Group::Message train(TrainingSet part, std::span<const std::byte> request) const {
    MessageReader reader(request);
    const auto is_needed = reader.get<bool>();
    MessageWriter answer;  // begins with why something was left undone
    const StopReason stop = context().must_stop();
    if (!is_needed && stop != StopReason::converged) {
      answer.put(stop);
      return answer.take();
    }
    reader.get<std::uint64_t>();
    part.kernel = kernel_of(reader.get<PlainKernel>());
    const auto factor = reader.get<double>();
    for (double& cost : part.cost) cost *= factor;
    const KernelMachine machine = train_kernel_machine(part, context());
    const std::vector<Index> support =
        expansion_rows(part.rows(), machine.machines, machine.decision, part.codes);
    std::vector<std::int32_t> classes;
    const StopReason reason = machine.report.stop_reason;
    const bool was_cut = reason == StopReason::interrupted || reason == StopReason::time_limit;
    if (!was_cut && context().must_stop() == StopReason::converged) {
      classes.resize(usize(scored_.rows()));
      try {
        make_expansion(part, machine)->classify(scored_, classes, quiet_);
      } catch (const Cancelled&) {
        classes.clear();
      }
    }
    answer.put(classes.empty() ? context().must_stop() : StopReason::converged);
    put_machine(machine, &answer);
    answer.put_list(support);
    answer.put_list(classes);
    return answer.take();
  }

  const AllRows& rows_;
  TrainOptions options_;  // with the cache of one trial
  const RunControl quiet_;
  const Stopwatch watch_;
  int keep_scored_;
  JobKeeper keeper_;
  RowJobs jobs_;
  std::uint64_t score_print_ = 0;
  Matrix scored_;
};

// What the first rank decides.
class Ransac {
 public:
  Ransac(const AllRows& rows, TrialJobs& jobs)
      : rows_(rows),
        data_(rows.facts()),
        jobs_(jobs),
        options_(jobs.options()),
        random_(Random(options_.seed, kTrialStream)),
        score_rows_(
            draw_score_rows(options_.ensemble.score_rows, data_.rows(), random_.split(kScoreRows))),
        drawer_(data_.codes, data_.num_classes,
                resolve_subset_rows(options_.ensemble.subset_rows, data_.rows()), data_.kernel,
                random_.split(kTrials)) {
    jobs_.set_score_rows(score_rows_);
  }

  MethodResult run(const RunControl& control) {
    // A cancelled run still makes a model.
    ProgressMeter meter(unstopped(control), "train", options_.ensemble.trials.value_or(0));
    table_ = {"trials", {"trial", "cost", "gamma", "support_vectors", "error"}, {}};
    MethodResult result;
    result.report.machines = 0;
    StopReason stop = StopReason::converged;
    for (Index first = 0; stop == StopReason::converged && !is_done(first); first += kAtOnce) {
      const Index count =
          std::min(kAtOnce, options_.ensemble.trials.value_or(first + kAtOnce) - first);
      std::vector<Trial> trials = train_trials(first, count);
      for (Trial& trial : trials) judge(std::move(trial), &result.report);
      meter.add(count);
      stop = std::max(jobs_.context().must_stop(), rows_.coordinator().stopped());
    }
    finish(stop, &result);
    return result;
  }

 private:
  bool is_done(Index trials) const {
    return options_.ensemble.trials && trials >= *options_.ensemble.trials;
  }

  std::vector<Trial> train_trials(Index first, Index count) {
    const Stopwatch watch;
    const ParameterRanges ranges(options_.ensemble);
    std::vector<Trial> trials(usize(count));
    for (Index k = 0; k < count; ++k) {
      trials[usize(k)].number = first + k;
      trials[usize(k)].draw = drawer_.draw(first + k, ranges);
    }
    jobs_.run(trials, 0);  // somebody must decide, even when there is no time
    for (Trial& trial : trials) {
      if (!trial.classes.empty()) trial.error = error_of(trial.classes, trial.draw.positions);
    }
    train_seconds_ += watch.seconds();
    return trials;
  }

  // Weighted share of wrong rows, among those it was not trained on; all rows when it was trained
  // on every one of them.
  double error_of(std::span<const std::int32_t> classes, std::span<const Index> seen) const {
    const bool skip_seen = static_cast<Index>(seen.size()) < data_.rows();
    double wrong = 0;
    double whole = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const std::size_t row = usize(score_rows_[i]);
      if (skip_seen && std::binary_search(seen.begin(), seen.end(), score_rows_[i])) continue;
      whole += data_.cost[row];
      if (classes[i] != data_.codes[row]) wrong += data_.cost[row];
    }
    return whole > 0 ? wrong / whole : 1;
  }

  void judge(Trial trial, TrainReport* report) {
    if (trial.machine.machines.empty()) return;
    add_run(trial.report, report);
    if (trial.error <= 1) {
      report->kernel_evaluations +=
          trial.support_vectors() * static_cast<Index>(score_rows_.size());
      table_.rows.push_back(
          {static_cast<double>(trial.number), options_.cost_or_default() * trial.draw.cost_factor,
           trial.draw.kernel.gamma, static_cast<double>(trial.support_vectors()), trial.error});
    }
    if (!best_.machine.machines.empty() && trial.error >= best_.error) return;
    best_ = std::move(trial);
  }

  void finish(StopReason stop, MethodResult* result) {
    TrainReport& report = result->report;
    // With no number of trials given, the time is what was asked for.
    const bool as_asked = !options_.ensemble.trials && stop == StopReason::time_limit;
    report.stop_reason = as_asked ? StopReason::converged : std::max(report.stop_reason, stop);
    report.support_rows = best_.report.support_rows;
    report.chosen_rows = best_.draw.positions;
    report.machine_iterations = std::move(best_.report.machine_iterations);
    report.objective = best_.report.objective;
    report.gap = best_.report.gap;
    report.violation = best_.report.violation;
    report.bounded_support_vectors = best_.report.bounded_support_vectors;
    report.phase_seconds = {{"trials", train_seconds_}};
    report.details = {{"trials_scored", static_cast<double>(table_.rows.size())},
                      {"best_trial", static_cast<double>(best_.number)},
                      {"best_cost", options_.cost_or_default() * best_.draw.cost_factor},
                      {"best_gamma", best_.draw.kernel.gamma},
                      {"subset_rows", static_cast<double>(drawer_.size())},
                      {"score_rows", static_cast<double>(score_rows_.size())},
                      {"kernel_evaluations_per_row", static_cast<double>(best_.support_vectors())}};
    if (best_.error <= 1) report.details.emplace_back("accuracy", 1 - best_.error);
    report.tables.push_back(std::move(table_));
    TrainingSet part = rows_.select(best_.draw.positions);
    part.kernel = best_.draw.kernel;
    result->machine = make_expansion(part, best_.machine);
  }

  const AllRows& rows_;
  const TrainingSet& data_;  // without features
  TrialJobs& jobs_;
  const TrainOptions& options_;
  Random random_;
  std::vector<Index> score_rows_;
  MemberDrawer drawer_;
  Trial best_;
  ReportTable table_;
  double train_seconds_ = 0;
};

}  // namespace

MethodResult train_ransac(const TrainingSet& data, const TrainContext& context) {
  const LocalContext local(context);
  Coordinator coordinator(group_of(context.control));
  const AllRows all(data, coordinator);
  TrialJobs jobs(all, local.context());
  MethodResult result;
  coordinator.run([&] { result = Ransac(all, jobs).run(local.context().control); });
  return result;
}

Method ransac_method() {
  return {.info = {.name = "ransac",
                   .summary = "the best single SVM of many on random subsets",
                   .kind = MethodKind::part_of_rows,
                   .does_regression = false,
                   .trains_together = true,
                   .options = {"multiclass", "trials", "subset-rows", "cost-range", "gamma-range",
                               "score-rows"}},
          .train = train_ransac};
}

}  // namespace tamis

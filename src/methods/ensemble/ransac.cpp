#include "methods/ensemble/ransac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/ensemble/member_draw.hpp"
#include "svm/train_binary.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kStream = 0x4A25AC;
constexpr std::uint64_t kScoreRows = 1;
constexpr std::uint64_t kTrials = 2;
constexpr Index kAtOnce = 16;

struct Trial {
  Index number = 0;
  MemberDraw draw;
  TrainReport report;
  std::shared_ptr<const KernelExpansion> machine;
  double error = std::numeric_limits<double>::infinity();  // while it was not scored
};

class Ransac {
 public:
  Ransac(const TrainingSet& data, const TrainContext& context)
      : data_(data),
        options_(context.options),
        quiet_(quiet(context.control)),
        watch_(context.watch),
        random_(Random(context.options.seed, kStream)),
        score_rows_(
            draw_score_rows(options_.ensemble.score_rows, data.rows(), random_.split(kScoreRows))),
        score_features_(static_cast<Index>(score_rows_.size()) == data.rows()
                            ? data.features
                            : data.features.select(score_rows_)),
        drawer_(data.codes, data.num_classes,
                resolve_subset_rows(options_.ensemble.subset_rows, data.rows()), data.kernel,
                random_.split(kTrials)) {
    share_memory(context);
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
      score(trials);
      for (Trial& trial : trials) judge(std::move(trial), &result.report);
      meter.add(count);
      stop = context().must_stop();
    }
    finish(stop, &result);
    return result;
  }

 private:
  TrainContext context() const { return {options_, quiet_, watch_}; }
  bool is_done(Index trials) const {
    return options_.ensemble.trials && trials >= *options_.ensemble.trials;
  }

  // Each trial that runs at the same time may use its part of the cache.
  void share_memory(const TrainContext& context) {
    const Index threads = loop_threads();
    const Index budget = resolve_memory_budget(context.control.memory_bytes);
    const Index work = checked_product(threads, binary_work_bytes(data_.features, drawer_.size()));
    const Index needed = checked_sum(resident_memory_bytes(), work);
    require_memory(
        fmt::format("{} on {}", counted(threads, "binary SVM"), counted(drawer_.size(), "row")),
        needed, budget);
    const Index left = std::max<Index>(1, (budget - needed) / 2 / threads);
    options_.cache_bytes = std::min(options_.cache_bytes.value_or(left), left);
  }

  std::vector<Trial> train_trials(Index first, Index count) {
    const Stopwatch watch;
    const ParameterRanges ranges(options_.ensemble);
    std::vector<Trial> trials(usize(count));
    parallel_each(count, [&](Index k) {
      // Somebody must decide, even when there is no time.
      const bool needed = first + k == 0;
      if (!needed && context().must_stop() != StopReason::converged) return;
      Trial& trial = trials[usize(k)];
      trial.number = first + k;
      trial.draw = drawer_.draw(trial.number, ranges);
      TrainingSet part = data_.select(trial.draw.positions);
      part.kernel = trial.draw.kernel;
      for (double& cost : part.cost) cost *= trial.draw.cost_factor;
      isolated([&] {
        KernelMachine machine = train_kernel_machine(part, context());
        trial.machine = make_expansion(part, machine);
        trial.report = expansion_result(part, std::move(machine)).report;
        for (Index& row : trial.report.support_rows) row = trial.draw.positions[usize(row)];
      });
    });
    train_seconds_ += watch.seconds();
    return trials;
  }

  void score(std::vector<Trial>& trials) {
    const Stopwatch watch;
    try {
      parallel_each(static_cast<Index>(trials.size()), [&](Index k) {
        Trial& trial = trials[usize(k)];
        const bool was_cut = trial.report.stop_reason == StopReason::interrupted ||
                             trial.report.stop_reason == StopReason::time_limit;
        if (trial.machine == nullptr || was_cut || context().must_stop() != StopReason::converged)
          return;
        std::vector<std::int32_t> classes(score_rows_.size());
        trial.machine->classify(score_features_, classes, quiet_);
        trial.error = error_of(classes, trial.draw.positions);
      });
    } catch (const Cancelled&) {
      // Those that were scored have an error.
    }
    score_seconds_ += watch.seconds();
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
    if (trial.machine == nullptr) return;
    add_run(trial.report, report);
    if (trial.error <= 1) {
      report->kernel_evaluations +=
          trial.machine->num_support_vectors() * static_cast<Index>(score_rows_.size());
      table_.rows.push_back(
          {static_cast<double>(trial.number), options_.cost_or_default() * trial.draw.cost_factor,
           trial.draw.kernel.gamma, static_cast<double>(trial.machine->num_support_vectors()),
           trial.error});
    }
    if (best_.machine != nullptr && trial.error >= best_.error) return;
    best_ = std::move(trial);
  }

  void finish(StopReason stop, MethodResult* result) {
    TrainReport& report = result->report;
    // With no number of trials given, the time is what was asked for.
    const bool as_asked = !options_.ensemble.trials && stop == StopReason::time_limit;
    report.stop_reason = as_asked ? StopReason::converged : std::max(report.stop_reason, stop);
    report.support_rows = std::move(best_.report.support_rows);
    report.machine_iterations = std::move(best_.report.machine_iterations);
    report.objective = best_.report.objective;
    report.gap = best_.report.gap;
    report.violation = best_.report.violation;
    report.bounded_support_vectors = best_.report.bounded_support_vectors;
    report.phase_seconds = {{"trials", train_seconds_}, {"scoring", score_seconds_}};
    report.details = {
        {"trials_scored", static_cast<double>(table_.rows.size())},
        {"best_trial", static_cast<double>(best_.number)},
        {"best_cost", options_.cost_or_default() * best_.draw.cost_factor},
        {"best_gamma", best_.draw.kernel.gamma},
        {"subset_rows", static_cast<double>(drawer_.size())},
        {"score_rows", static_cast<double>(score_rows_.size())},
        {"kernel_evaluations_per_row", static_cast<double>(best_.machine->num_support_vectors())}};
    if (best_.error <= 1) report.details.emplace_back("accuracy", 1 - best_.error);
    report.tables.push_back(std::move(table_));
    result->machine = std::move(best_.machine);
  }

  const TrainingSet& data_;
  TrainOptions options_;  // with the cache of one trial
  RunControl quiet_;
  Stopwatch watch_;
  Random random_;
  std::vector<Index> score_rows_;
  Matrix score_features_;
  MemberDrawer drawer_;
  Trial best_;
  ReportTable table_;
  double train_seconds_ = 0;
  double score_seconds_ = 0;
};

}  // namespace

MethodResult train_ransac(const TrainingSet& data, const TrainContext& context) {
  return Ransac(data, context).run(context.control);
}

Method ransac_method() {
  return {.info = {.name = "ransac",
                   .summary = "the best single SVM of many on random subsets",
                   .kind = MethodKind::part_of_rows,
                   .does_regression = false,
                   .options = {"multiclass", "trials", "subset-rows", "cost-range", "gamma-range",
                               "score-rows"}},
          .train = train_ransac};
}

}  // namespace tamis

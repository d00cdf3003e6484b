#include "methods/sifting/sifting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "methods/common/validation.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kMostHeld = 20'000;
constexpr Index kLeastHeld = 20;
constexpr std::uint64_t kSiftStream = 0x5157;  // apart from other users of the same seed

// Places among the rows of one class.
std::vector<Index> draw_places(Index size, double fraction, Index least, Random& random) {
  const auto wanted = static_cast<Index>(fraction * static_cast<double>(size));
  return sample_without_replacement(size, std::min(size, std::max(wanted, least)), random);
}

struct Round {
  Index number = 0;  // from 1
  KernelMachine machine;
  std::vector<Index> rows;
  Index support_vectors = 0;
  double error = std::numeric_limits<double>::quiet_NaN();
};

bool was_cut_short(StopReason reason) {
  return reason == StopReason::time_limit || reason == StopReason::interrupted;
}

class Sifter {
 public:
  Sifter(const TrainingSet& data, const TrainContext& context, std::span<const Index> held,
         FirstRound first_round)
      : data_(data),
        context_(context),
        validation_(data, held),
        first_round_(first_round),
        seen_(usize(data.rows()), 0) {}

  void run(std::vector<Index> rows, const NextRows& next) {
    while (train(rows)) {
      std::vector<Index> chosen = choose(next);
      if (was_cut_short(stop_) || chosen.empty() || chosen == rows) return;
      rows = std::move(chosen);
    }
  }

  MethodResult result() && {
    MethodResult result = expansion_result(data_, std::move(best_.machine), context_.control);
    TrainReport& report = result.report;
    report.stop_reason = std::max(report.stop_reason, stop_);
    report.iterations = work_.iterations;
    report.kernel_evaluations = work_.kernel_evaluations;
    report.cached_evaluations = work_.cached_evaluations;
    report.phase_seconds = {{"choose", choose_seconds_}, {"solve", solve_seconds_}};
    const Index seen = std::accumulate(seen_.begin(), seen_.end(), Index{0});
    report.details = {{"sv_initial", initial_support_vectors_},
                      {"sv_final", best_.support_vectors},
                      {"rows_used", std::ssize(best_.rows)},
                      {"rows_seen", seen},
                      {"best_round", best_.number}};
    if (!validation_.empty()) {
      report.phase_seconds.emplace_back("validate", validate_seconds_);
      report.details.emplace_back("validation_rows", validation_.size());
      report.details.emplace_back("validation_error", best_.error);
    }
    report.tables.push_back(std::move(table_));
    report.chosen_rows = std::move(best_.rows);
    return result;
  }

 private:
  // One round; whether another may follow.
  bool train(const std::vector<Index>& rows) {
    const Stopwatch watch;
    seen_.resize(usize(data_.rows()), 0);  // of other rows, these have all that were seen before
    for (const Index row : rows) seen_[usize(row)] = 1;
    Round round;
    round.machine = train_kernel_machine(data_, rows, context_, rounds_ > 0 ? &latest_ : nullptr);
    round.rows = rows;
    round.support_vectors = static_cast<Index>(round.machine.support_rows().size());
    solve_seconds_ += watch.seconds();
    add_work(round.machine.report);
    round.number = ++rounds_;
    if (rounds_ == 1) initial_support_vectors_ = round.support_vectors;
    latest_ = round.machine;
    if (was_cut_short(round.machine.report.stop_reason))
      stop_ = round.machine.report.stop_reason;
    else
      measure(&round);
    table_.rows.push_back({static_cast<double>(rows.size()),
                           static_cast<double>(round.support_vectors), round.error,
                           watch.seconds()});
    keep_best(std::move(round));
    return !was_cut_short(stop_) && rounds_ < context_.options.sift.max_rounds &&
           rounds_without_improvement_ < context_.options.sift.patience;
  }

  void measure(Round* round) {
    if (validation_.empty()) return;
    const Stopwatch watch;
    try {
      round->error = validation_.error(*make_expansion(data_, round->machine), context_.control);
    } catch (const Cancelled&) {
      stop_ = StopReason::interrupted;
    }
    validate_seconds_ += watch.seconds();
  }

  // A round that was cut short counts only if there is no other.
  void keep_best(Round round) {
    if (rounds_ > 1 && was_cut_short(stop_)) return;
    const bool only_starts = first_round_ == FirstRound::starts && rounds_ == 1;
    const bool replaces_start = first_round_ == FirstRound::starts && rounds_ == 2;
    if (!validation_.empty() && !only_starts) {
      const double wanted = (1 - context_.options.sift.improvement) * error_to_improve_;
      if (round.error < wanted) {
        error_to_improve_ = round.error;
        rounds_without_improvement_ = 0;
      } else {
        ++rounds_without_improvement_;
      }
      if (rounds_ > 1 && !replaces_start && round.error >= best_.error) return;
    }
    best_ = std::move(round);
  }

  std::vector<Index> choose(const NextRows& next) {
    const Stopwatch watch;
    std::vector<Index> rows;
    try {
      rows = next(latest_);
      stop_ = context_.must_stop();
      if (validation_.empty()) best_.machine = latest_;  // it may have renumbered the rows
    } catch (const Cancelled&) {
      stop_ = StopReason::interrupted;
    }
    choose_seconds_ += watch.seconds();
    return rows;
  }

  // Of all rounds; the rest of the report is that of the machine that counts.
  void add_work(const TrainReport& part) {
    work_.iterations += part.iterations;
    work_.kernel_evaluations += part.kernel_evaluations;
    work_.cached_evaluations += part.cached_evaluations;
  }

  const TrainingSet& data_;
  const TrainContext& context_;
  Validation validation_;
  FirstRound first_round_;
  Round best_;
  KernelMachine latest_;
  TrainReport work_;
  StopReason stop_ = StopReason::converged;
  Index rounds_ = 0;
  Index initial_support_vectors_ = 0;
  double error_to_improve_ = std::numeric_limits<double>::infinity();
  Index rounds_without_improvement_ = 0;
  double choose_seconds_ = 0;
  double solve_seconds_ = 0;
  double validate_seconds_ = 0;
  std::vector<std::uint8_t> seen_;
  ReportTable table_{"rounds", {"rows", "support_vectors", "validation_error", "seconds"}, {}};
};

}  // namespace

std::vector<Index> all_rows(const TrainingSet& data) {
  std::vector<Index> rows(usize(data.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<std::vector<Index>> rows_by_class(const TrainingSet& data,
                                              std::span<const Index> rows) {
  std::vector<std::vector<Index>> classes(usize(std::max<Index>(1, data.num_classes)));
  for (const Index row : rows)
    classes[data.is_regression() ? 0 : usize(data.codes[usize(row)])].push_back(row);
  return classes;
}

Random sift_random(const TrainContext& context, std::uint64_t step) {
  return Random(context.options.seed, kSiftStream).split(step);
}

double delta_or(const TrainContext& context, double otherwise) {
  return context.options.sift.delta.value_or(otherwise);
}

std::vector<Index> draw_rows(const TrainingSet& data, std::span<const Index> rows, double fraction,
                             Index least, Random random) {
  std::vector<Index> drawn;
  for (const std::vector<Index>& stratum : rows_by_class(data, rows)) {
    for (const Index at : draw_places(std::ssize(stratum), fraction, least, random))
      drawn.push_back(stratum[usize(at)]);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::vector<Index> draw_own_rows(const TrainingSet& mine, double fraction, Index least,
                                 Random random, Group& group) {
  std::vector<Index> drawn;
  for (const std::vector<Index>& stratum : rows_by_class(mine, all_rows(mine))) {
    const Index before = sum_of_earlier(group, std::ssize(stratum));
    const Index all = sum_of_all(group, std::ssize(stratum));
    for (const Index at : draw_places(all, fraction, least, random)) {
      if (at >= before && at < before + std::ssize(stratum))
        drawn.push_back(stratum[usize(at - before)]);
    }
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::vector<Index> HoldOut::allowed(std::vector<Index> rows) const {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<Index> result;
  std::set_difference(rows.begin(), rows.end(), held.begin(), held.end(),
                      std::back_inserter(result));
  return result;
}

std::vector<Index> HoldOut::pool_without(std::span<const Index> rows) const {
  std::vector<Index> result;
  std::set_difference(pool.begin(), pool.end(), rows.begin(), rows.end(),
                      std::back_inserter(result));
  return result;
}

HoldOut hold_out(const TrainingSet& data, const TrainContext& context) {
  const double fraction =
      std::min(context.options.sift.validation_fraction,
               static_cast<double>(kMostHeld) / static_cast<double>(data.rows()));
  HoldOut split;
  split.pool = all_rows(data);
  split.held = draw_rows(data, split.pool, fraction, 0, sift_random(context, 0));
  if (static_cast<Index>(split.held.size()) < kLeastHeld) split.held.clear();
  split.pool = split.allowed(std::move(split.pool));
  return split;
}

Metric row_metric(const TrainingSet& data) {
  if (data.kernel.type == KernelType::precomputed) return {data.kernel};
  return {};
}

MethodResult sift(const TrainingSet& data, const TrainContext& context, std::span<const Index> held,
                  std::vector<Index> first, const NextRows& next, FirstRound first_round) {
  Sifter sifter(data, context, held, first_round);
  sifter.run(std::move(first), next);
  return std::move(sifter).result();
}

double& report_detail(TrainReport& report, std::string_view name) {
  for (auto& [known, value] : report.details) {
    if (known == name) return value;
  }
  return report.details.emplace_back(name, 0.0).second;
}

}  // namespace tamis

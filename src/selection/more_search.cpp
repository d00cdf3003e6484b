#include "selection/more_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/clock.hpp"
#include "selection/climb.hpp"
#include "selection/metric_choice.hpp"
#include "selection/parameters.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Less of the limit is left for training that takes longer than its forecast.
constexpr double kLeastShare = 0.1;
// Of a start's seconds, what its climb may take; the duel gets the rest.
constexpr double kClimbShare = 0.6;
constexpr double kMetricShare = 0.3;
// Earlier drawings judged the tries of the first search.
constexpr std::size_t kFirstDrawing = 5;
constexpr Index kMostDrawings = 4;
// Times the lowest forecast error, within which other parameters may still help a candidate.
constexpr double kHopeless = 2;
// Standard errors that a challenger must be ahead.
constexpr double kAhead = 1;
constexpr int kMostCycles = 3;
constexpr Index kRowsOfMetric = 8000;
constexpr int kRoundsOfMetric = 3;
constexpr Stride kShorter{.tries = 8, .cost_step = 2, .gamma_step = 1.5, .tube_step = 1.5};

class MoreSearch {
 public:
  MoreSearch(const Dataset& data, const TrainOptions& asked, const AutoBudget& budget,
             const RunControl& control, Trials* trials, std::vector<Candidate>* sorted)
      : data_(data),
        asked_(asked),
        budget_(budget),
        control_(control),
        trials_(*trials),
        sorted_(*sorted) {}

  std::string run() {
    if (!has_time()) return {};
    const Stopwatch watch;
    try {
      bool is_better = true;
      for (int cycle = 0; cycle < kMostCycles && is_better; ++cycle) is_better = run_cycle(cycle);
    } catch (const Cancelled&) {
      return {};  // what was found before is trained, or the best trial is the model
    }
    const double seconds = watch.seconds();
    if (wins_.empty()) return fmt::format("nothing better was found in {:.3g} s more", seconds);
    return fmt::format("{:.3g} s more of search: better by {}", seconds, wins_);
  }

 private:
  double spare() const { return budget_.more_seconds(sorted_.front().forecast.seconds); }
  bool has_time() const { return spare() > kLeastShare * budget_.limit() && !control_.cancelled(); }

  // Whether anything was better.
  bool run_cycle(int cycle) {
    bool is_better = false;
    if (cycle == 0) {
      for (std::size_t c = 1; c < sorted_.size(); ++c) is_better |= try_other(c);
    }
    if (may_learn_metric(asked_)) {
      if (asked_.metric == MetricForm::diagonal)
        is_better |= try_metric(MetricForm::diagonal, "feature weights");
      if (data_.cols() <= Scaling::kMaxMatrixColumns)
        is_better |= try_metric(MetricForm::full, "a full metric");
    }
    return try_shorter_strides() || is_better;
  }

  bool try_other(std::size_t c) {
    Candidate other = sorted_[c];
    const bool is_hopeless = other.judged_error() > kHopeless * sorted_.front().judged_error();
    if (!other.tries.empty() || is_hopeless || !has_time()) return false;
    const double seconds = spare() / 4;
    const Stopwatch watch;
    climb_twice(trials_.series(0), freedom_of(asked_, other.options), kClimbShare * seconds,
                control_, &other);
    return challenge(std::move(other), seconds - watch.seconds(), "another candidate");
  }

  // Learned with the parameters that were found since.
  bool try_metric(MetricForm form, std::string_view what) {
    if (!has_time() || !uses_kernel(sorted_.front().options)) return false;
    Candidate other = sorted_.front();
    TrainOptions asked = asked_;
    asked.metric_rounds = asked_.metric_rounds.value_or(kRoundsOfMetric);
    asked.metric = form;
    TrainOptions plain = other.options;
    plain.feature_weights.clear();
    plain.metric_matrix.clear();
    const double seconds = spare() / 3;
    const Stopwatch watch;
    try {
      MetricChoice choice = choose_metric(trials_.sample_to_train(kRowsOfMetric), asked, plain,
                                          kMetricShare * seconds, control_);
      if (choice.options.feature_weights.empty() && choice.options.metric_matrix.empty())
        return false;
      other.options = std::move(choice.options);
      other.metric_remark = std::move(choice.remark);
    } catch (const ResourceError&) {
      return false;  // no memory for it: the rest of the search goes on
    }
    other.options.metric = MetricForm::diagonal;  // learned already
    other.options.metric_rounds.reset();
    other.tries.clear();
    climb(trials_.series(0), freedom_of(asked_, other.options), kShorter,
          kClimbShare * (seconds - watch.seconds()), control_, &other);
    return challenge(std::move(other), seconds - watch.seconds(), what);
  }

  bool try_shorter_strides() {
    if (!has_time()) return false;
    Candidate other = sorted_.front();
    const double seconds = spare() / 2;
    const Stopwatch watch;
    climb(trials_.series(0), freedom_of(asked_, other.options), kShorter, kClimbShare * seconds,
          control_, &other);
    if (at_same_place(other.options, sorted_.front().options)) return false;
    return challenge(std::move(other), seconds - watch.seconds(), "shorter strides");
  }

  bool challenge(Candidate other, double seconds, std::string_view what) {
    const Candidate& best = sorted_.front();
    if (other.trials.empty()) return false;
    const Index rows = std::max(best.trials.back().rows, other.trials.back().rows);
    const Duel result = duel(&trials_, best, other, rows, seconds);
    if (!result.is_won(best, other, trials_.validation().rows())) return false;
    // On the scale of the errors so far, which are of other held-out rows.
    Trial& last = other.trials.back();
    last.error = best.trials.back().error * result.challenger_error / result.champion_error;
    look_ahead(budget_.training_seconds(), data_.rows(), &other);
    wins_ += fmt::format("{}{} ({:.3g} times the error)", wins_.empty() ? "" : ", ", what,
                         result.challenger_error / result.champion_error);
    sorted_.insert(sorted_.begin(), std::move(other));
    return true;
  }

  const Dataset& data_;
  const TrainOptions& asked_;
  const AutoBudget& budget_;
  const RunControl& control_;
  Trials& trials_;
  std::vector<Candidate>& sorted_;
  std::string wins_;
};

}  // namespace

bool Duel::is_won(const Candidate& champion, const Candidate& challenger,
                  Index held_out_rows) const {
  if (drawings == 0) return false;
  const double margin =
      kAhead * standard_error(champion_error, champion.options.task, drawings * held_out_rows);
  return challenger.handicap * challenger_error < champion.handicap * (champion_error - margin);
}

Duel duel(Trials* trials, const Candidate& champion, const Candidate& challenger, Index rows,
          double seconds) {
  const Stopwatch watch;
  Duel result;
  double champion_sum = 0;
  double challenger_sum = 0;
  double longest = 0;
  while (result.drawings < kMostDrawings && watch.seconds() + longest <= seconds) {
    const Stopwatch round;
    const TrialSeries series =
        trials->series(kFirstDrawing + static_cast<std::size_t>(result.drawings));
    const Index own = std::min(rows, series.most_rows);
    const auto first = series.run(champion.options, own, seconds - watch.seconds());
    if (!first) break;
    const auto second = series.run(challenger.options, own, seconds - watch.seconds());
    if (!second) break;
    ++result.drawings;
    champion_sum += first->error;
    challenger_sum += second->error;
    result.champion_error = champion_sum / static_cast<double>(result.drawings);
    result.challenger_error = challenger_sum / static_cast<double>(result.drawings);
    if (challenger.handicap * challenger_sum >= champion.handicap * champion_sum) break;
    longest = std::max(longest, round.seconds());
  }
  return result;
}

std::string search_on(const Dataset& data, const TrainOptions& asked, const AutoBudget& budget,
                      const RunControl& control, Trials* trials, std::vector<Candidate>* sorted) {
  return MoreSearch(data, asked, budget, control, trials, sorted).run();
}

}  // namespace tamis

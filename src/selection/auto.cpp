#include "selection/auto.hpp"

#include "base/clock.hpp"
#include "selection/auto_budget.hpp"
#include "selection/auto_report.hpp"
#include "selection/candidates.hpp"
#include "selection/climb.hpp"
#include "selection/final_training.hpp"
#include "selection/pilot_parameters.hpp"
#include "selection/race.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// The steps are those of docs/auto.md.
class Chooser {
 public:
  Chooser(const Dataset& data, const TrainOptions& asked, const RunControl& control)
      : data_(data),
        asked_(asked),
        control_(control),
        strata_(row_strata(data, asked.task == Task::regression)),
        budget_(asked.max_seconds),
        report_(asked, data.rows(), control) {}

  TrainResult run() {
    const PilotParameters parameters =
        pilot_parameters(data_, asked_, budget_.parameter_seconds(), control_);
    Trials trials(data_, strata_, asked_, control_);
    std::vector<Candidate> all = try_candidates(parameters.options, &trials);
    if (!all.empty()) improve(&trials, &all);
    const Candidate best =
        all.empty() ? plainest_candidate(data_, asked_, parameters.options) : lowest_error(all);
    const double choose_seconds = budget_.elapsed();
    report_.announce(best, all, choose_seconds);
    TrainResult result = train_chosen(data_, strata_, best, trials, budget_, control_);
    report_.complete(best, parameters.error, choose_seconds, budget_.elapsed(), &result.report);
    return result;
  }

 private:
  // Candidates, trials and their forecasts; without those that had no trial.
  std::vector<Candidate> try_candidates(const TrainOptions& parameters, Trials* trials) {
    std::vector<Candidate> all = candidates(data_, asked_, parameters);
    const TrialSeries series = trials->series(0);
    const double seconds = budget_.trial_seconds(all.size());
    for (Candidate& candidate : all) try_growing(series, seconds, &candidate);
    std::erase_if(all, [](const Candidate& candidate) { return candidate.trials.empty(); });
    if (all.empty() && control_.cancelled()) throw Cancelled();
    for (Candidate& candidate : all) forecast_again(&candidate);
    sort_by_error(&all);
    return all;
  }

  // The best, and the second when it is close, get parameters of their own.
  void improve(Trials* trials, std::vector<Candidate>* all) {
    const std::span<Candidate> promising(all->data(), count_promising(*all));
    climb(trials->series(0), promising);
    const DrawSeries draw = [trials](std::size_t drawing) { return trials->series(drawing); };
    std::size_t left = promising.size();
    for (Candidate& candidate : promising) {
      const double seconds = budget_.judge_seconds(candidate.forecast.seconds);
      if (race(draw, trials->validation().rows(), seconds / static_cast<double>(left--), control_,
               &candidate))
        forecast_again(&candidate);
    }
  }

  void climb(const TrialSeries& series, std::span<Candidate> promising) {
    const double seconds = budget_.climb_seconds();
    const Stopwatch watch;
    std::size_t left = promising.size();
    for (Candidate& candidate : promising) {
      const double share = (seconds - watch.seconds()) / static_cast<double>(left--);
      climb_twice(series, freedom_of(asked_, candidate.options), share, control_, &candidate);
      forecast_again(&candidate);
    }
  }

  void forecast_again(Candidate* candidate) const {
    look_ahead(budget_.training_seconds(), data_.rows(), candidate);
  }

  const Dataset& data_;
  const TrainOptions& asked_;
  const RunControl& control_;
  Strata strata_;
  AutoBudget budget_;
  AutoReport report_;
};

}  // namespace

TrainResult train_auto(const Dataset& data, const TrainOptions& options,
                       const RunControl& control) {
  if (data.labels().kind() == LabelKind::none) throw DataError("the data has no labels to learn");
  return Chooser(data, options, control).run();
}

}  // namespace tamis

#include "selection/auto.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "selection/auto_budget.hpp"
#include "selection/auto_report.hpp"
#include "selection/candidates.hpp"
#include "selection/climb.hpp"
#include "selection/final_training.hpp"
#include "selection/halving.hpp"
#include "selection/metric_choice.hpp"
#include "selection/more_search.hpp"
#include "selection/parameters.hpp"
#include "selection/pilot_parameters.hpp"
#include "selection/race.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kMetricRows = 8000;

TrainOptions without_metric(TrainOptions options) {
  options.metric_rounds.reset();
  options.metric = MetricForm::diagonal;
  return options;
}

// The steps are those of docs/auto.md.
class Chooser {
 public:
  Chooser(const Dataset& data, const TrainOptions& asked, const RunControl& control)
      : data_(data),
        asked_(asked),
        plain_(without_metric(asked)),
        control_(control),
        strata_(row_strata(data, asked.task == Task::regression)),
        budget_(asked.max_seconds, data.rows()),
        report_(asked, data.rows(), control) {}

  TrainResult run() {
    const std::vector<PilotParameters> parameters = parameters_of_kernels();
    Trials trials(data_, strata_, plain_, control_);
    const std::vector<MetricChoice> chosen = with_metric(parameters, trials);
    std::vector<Candidate> all = try_candidates(chosen, &trials);
    if (!all.empty()) improve(&trials, &all);
    sort_by_error(&all);
    const std::string more =
        all.empty() ? "" : search_on(data_, asked_, budget_, control_, &trials, &all);
    const Candidate best =
        all.empty() ? plainest_candidate(data_, plain_, chosen.front().options) : all.front();
    const double choose_seconds = budget_.elapsed();
    report_.announce(best, all, choose_seconds);
    if (!best.metric_remark.empty()) report_.say(best.metric_remark);
    if (!more.empty()) report_.say(more);
    TrainResult result = train_chosen(data_, strata_, best, trials, budget_, control_);
    report_.complete(best, error_of(parameters, best), choose_seconds, budget_.elapsed(),
                     &result.report);
    return result;
  }

 private:
  std::vector<PilotParameters> parameters_of_kernels() const {
    const std::vector<KernelType> kernels = kernels_to_try(plain_);
    std::vector<PilotParameters> result;
    result.reserve(kernels.size());
    for (const KernelType kernel : kernels)
      result.push_back(pilot_parameters(data_, with_kernel(plain_, kernel),
                                        budget_.parameter_seconds(kernels.size()), control_));
    return result;
  }

  // The parameters, with feature weights where these pay.
  std::vector<MetricChoice> with_metric(std::span<const PilotParameters> parameters,
                                        const Trials& trials) const {
    std::vector<MetricChoice> result;
    result.reserve(parameters.size());
    for (const PilotParameters& one : parameters) {
      if (may_learn_metric(asked_))
        result.push_back(choose_metric(trials.sample_to_train(kMetricRows), asked_, one.options,
                                       budget_.metric_seconds(parameters.size()), control_));
      else
        result.push_back({one.options, {}});
    }
    return result;
  }

  // Of the cross-validation that chose the parameters of this candidate's kernel.
  static double error_of(std::span<const PilotParameters> parameters, const Candidate& best) {
    const auto same_kernel = [&](const PilotParameters& one) {
      return one.options.kernel == best.options.kernel;
    };
    return std::find_if(parameters.begin(), parameters.end(), same_kernel)->error;
  }

  // Candidates, trials and their forecasts; without those that had no trial.
  std::vector<Candidate> try_candidates(std::span<const MetricChoice> of_kernels, Trials* trials) {
    std::vector<Candidate> all = candidates(data_, plain_, of_kernels);
    try_by_halving(trials->series(0), budget_.trial_seconds(), all);
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
      climb_twice(series, freedom_of(plain_, candidate.options), share, control_, &candidate);
      forecast_again(&candidate);
    }
  }

  void forecast_again(Candidate* candidate) const {
    look_ahead(budget_.training_seconds(), data_.rows(), candidate);
  }

  const Dataset& data_;
  const TrainOptions& asked_;
  TrainOptions plain_;  // asked_, without the rounds that learn feature weights: they come once
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

// Time shares of `auto`: the only place that says how many seconds each of its steps may take. The
// steps are numbered as in docs/auto.md.
#pragma once

#include <algorithm>
#include <limits>

#include "base/clock.hpp"

namespace tamis {

class AutoBudget {
 public:
  /// The clock starts here. 0: no limit.
  explicit AutoBudget(double max_seconds) : max_seconds_(max_seconds) {}

  double elapsed() const { return watch_.seconds(); }
  bool is_limited() const { return max_seconds_ > 0; }

  /// For everything but putting the model together. Infinite without a limit, as is left().
  double limit() const {
    return is_limited() ? max_seconds_ * (1 - kReserve) : std::numeric_limits<double>::infinity();
  }
  double left() const { return limit() - elapsed(); }

  /// Step 1, the cross-validation that chooses parameters.
  double parameter_seconds() const { return kParameterShare * pilot_left(); }

  /// Step 2, learning feature weights.
  double metric_seconds() const { return kMetricShare * std::max(0.0, pilot_left()); }

  /// Step 4, the trials of one of so many candidates.
  double trial_seconds(std::size_t candidates) const {
    return std::max(kLeastTrial, pilot_left()) / static_cast<double>(candidates);
  }

  /// Step 5, what the last training is planned for.
  double training_seconds() const { return kTrainShare * std::min(left(), kPatience); }

  /// Step 6, moving C and gamma of all candidates that are worth it.
  double climb_seconds() const { return is_limited() ? kClimbShare * max_seconds_ : kPilotSeconds; }

  /// Step 6, judging the best tries again: a share of what training, and as much again, leaves
  /// over. On small data far more than it takes: what is chosen must not depend on how busy the
  /// computer is.
  double judge_seconds(double forecast_training_seconds) const {
    const double spare = left() - 2 * forecast_training_seconds;
    return kJudgeShare * std::clamp(spare, 0.0, kPilotSeconds);
  }

  /// Trials get so much even when nothing is left: without one there is nothing to choose by.
  static constexpr double kLeastTrial = 0.05;
  /// Of what is left for trials, the next larger one may be forecast to take so much: forecasts
  /// err, and a trial that runs out of time is lost.
  static constexpr double kNextTrialShare = 0.7;
  /// Times its seconds, after which a trial is cancelled. A method stops by itself in time, but its
  /// model is also to be judged, which has no limit of its own.
  static constexpr double kTrialGrace = 1.5;
  /// Times the seconds of the last round of judging that the next one may take.
  static constexpr double kNextRound = 1.2;

 private:
  // Steps 1 to 4, and the climb of step 6: together they leave a quarter of the limit to train.
  static constexpr double kPilotShare = 0.35;
  static constexpr double kClimbShare = 0.35;
  // The same for each without a limit; with the judging of step 6, choosing takes up to 75 seconds.
  static constexpr double kPilotSeconds = 30;
  // Of steps 1 to 4; the rest is for trials.
  static constexpr double kParameterShare = 0.6;
  // Of what step 1 leaves of these.
  static constexpr double kMetricShare = 0.3;
  // Half of what is left over stays there, for a training that takes longer than its forecast.
  static constexpr double kJudgeShare = 0.5;
  // Of the time left: forecasts err.
  static constexpr double kTrainShare = 0.75;
  // Training may take so many seconds when nobody set a limit.
  static constexpr double kPatience = 600;
  // Of the limit, for putting the model together.
  static constexpr double kReserve = 0.03;

  double pilot_left() const {
    return (is_limited() ? kPilotShare * max_seconds_ : kPilotSeconds) - elapsed();
  }

  double max_seconds_;
  Stopwatch watch_;
};

}  // namespace tamis

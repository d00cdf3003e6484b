// Time shares of `auto`: the only place that says how many seconds each of its steps may take. The
// steps are numbered as in docs/auto.md.
#pragma once

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

class AutoBudget {
 public:
  /// The clock starts here. 0 seconds: no limit.
  AutoBudget(double max_seconds, Index rows)
      : max_seconds_(max_seconds),
        usual_seconds_(rows < kFewRows ? kSecondsOnFewRows : kUsualSeconds) {}

  double elapsed() const { return watch_.seconds(); }
  bool is_limited() const { return max_seconds_ > 0; }

  /// For everything but putting the model together. Infinite without a limit, as is left().
  double limit() const {
    return is_limited() ? max_seconds_ * (1 - kReserve) : std::numeric_limits<double>::infinity();
  }
  double left() const { return limit() - elapsed(); }

  /// Step 1, the cross-validation that chooses parameters, for one of so many kernels.
  double parameter_seconds(std::size_t kernels) const {
    return std::min(kParameterShare * pilot_seconds() / static_cast<double>(kernels), pilot_left());
  }

  /// Step 2, learning feature weights for one of so many kernels.
  double metric_seconds(std::size_t kernels) const {
    const double share = kMetricShare * pilot_seconds() / static_cast<double>(kernels);
    return std::clamp(pilot_left(), 0.0, share);
  }

  /// Step 4, the trials of all candidates.
  double trial_seconds() const { return std::max(kLeastTrial, pilot_left()); }

  /// Step 5, what the last training is planned for.
  double training_seconds() const { return kTrainShare * std::min(left(), kPatience); }

  /// Step 6, moving C and gamma of all candidates that are worth it.
  double climb_seconds() const {
    return is_limited() ? kClimbShare * max_seconds_ : kUsualPilotShare * usual_seconds_;
  }

  /// Step 6, judging the best tries again: a share of what training, and as much again, leaves
  /// over. On small data far more than it takes: what is chosen must not depend on how busy the
  /// computer is.
  double judge_seconds(double forecast_training_seconds) const {
    const double most = kUsualPilotShare * (is_limited() ? kUsualSeconds : usual_seconds_);
    const double spare = left() - 2 * forecast_training_seconds;
    return kJudgeShare * std::clamp(spare, 0.0, most);
  }

  /// Searching on once all is chosen: what training, and as much again, leaves over of a limit. 0
  /// without one.
  double more_seconds(double forecast_training_seconds) const {
    return is_limited() ? std::max(0.0, left() - 2 * forecast_training_seconds) : 0.0;
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
  // Choosing takes so long, at most, without a limit; steps 1 to 4 and the climb get this share
  // each, the judging of step 6 the rest.
  static constexpr double kUsualSeconds = 75;
  static constexpr Index kFewRows = 20'000;
  static constexpr double kSecondsOnFewRows = 10;
  static constexpr double kUsualPilotShare = 0.4;
  // Of steps 1 to 4; the rest is for trials.
  static constexpr double kParameterShare = 0.6;
  static constexpr double kMetricShare = 0.15;
  // Half of what is left over stays there, for a training that takes longer than its forecast.
  static constexpr double kJudgeShare = 0.5;
  // Of the time left: forecasts err.
  static constexpr double kTrainShare = 0.75;
  // Training may take so many seconds when nobody set a limit.
  static constexpr double kPatience = 600;
  // Of the limit, for putting the model together.
  static constexpr double kReserve = 0.03;

  double pilot_seconds() const {
    return is_limited() ? kPilotShare * max_seconds_ : kUsualPilotShare * usual_seconds_;
  }
  double pilot_left() const { return pilot_seconds() - elapsed(); }

  double max_seconds_;
  double usual_seconds_;
  Stopwatch watch_;
};

}  // namespace tamis

#include "selection/pilot_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.hpp"
#include "selection/parameters.hpp"
#include "selection/scaling_choices.hpp"
#include "selection/search_parameters.hpp"
#include "selection/tune_request.hpp"
#include "selection/usual_axes.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kFirstRows = 1000;
constexpr Index kGrowth = 3;  // rows of a stage to rows of the one before
constexpr Index kMostRows = 9000;
constexpr double kTimeGrowth = 2.5;  // seconds grow with this power of the rows, at most

// A regression whose tube nobody chose: a share of how much the numbers differ, since a fixed one
// is all or nothing depending on their unit.
TrainOptions with_chosen_tube(const Dataset& data, const TrainOptions& asked) {
  constexpr double kTubeShare = 0.1;  // of the standard deviation
  if (asked.task != Task::regression || keeps_tube(asked) ||
      data.labels().kind() != LabelKind::numeric)
    return asked;
  const double rows = static_cast<double>(data.rows());
  double mean = 0;
  for (Index i = 0; i < data.rows(); ++i) mean += data.labels().number(i) / rows;
  double variance = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    const double off = data.labels().number(i) - mean;
    variance += off * off / rows;
  }
  if (!(variance > 0) || !std::isfinite(variance)) return asked;
  return with_tube(asked, kTubeShare * std::sqrt(variance));
}

std::vector<double> times(double center, std::initializer_list<double> factors) {
  std::vector<double> values;
  for (const double factor : factors) values.push_back(center * factor);
  return values;
}

TrainOptions of_exact(TrainOptions options) {
  options.method = "exact";
  return options;
}

class Pilot {
 public:
  Pilot(const Dataset& data, const TrainOptions& asked, double seconds, const RunControl& control)
      : data_(data), asked_(asked), seconds_(seconds), control_(control) {
    control_.on_progress = nullptr;
  }

  PilotParameters run() {
    best_.options = of_exact(asked_);
    best_.error = std::nan("");
    const std::vector<ScalingMethod> tried = scaling_choices(data_, asked_);
    if (keeps_cost(asked_) && keeps_gamma(asked_) && tried.size() == 1) return best_;
    std::vector<PilotParameters> found;
    for (const ScalingMethod scaling : tried) {
      first_stage(scaling, tried.size());
      if (!std::isnan(best_.error)) found.push_back(best_);
      best_.error = std::nan("");
    }
    if (!found.empty()) refine(std::move(found));
    return best_;
  }

 private:
  // On more rows around the best, as far as the time goes.
  void refine(std::vector<PilotParameters> found) {
    const auto better = [](const auto& a, const auto& b) { return a.error < b.error; };
    std::stable_sort(found.begin(), found.end(), better);
    // A thousand rows tell scalings apart only roughly: the next stage is for two of them.
    found.resize(std::min<std::size_t>(2, found.size()));
    best_ = found[0];
    double step = 1;
    for (Index rows = kFirstRows; rows < std::min(data_.rows(), kMostRows);) {
      rows = std::min({rows * kGrowth, data_.rows(), kMostRows});
      const double share = left() / static_cast<double>(found.size());
      if (expected_seconds(rows) > share) break;
      for (PilotParameters& one : found) {
        best_ = one;
        next_stage(rows, step, share);
        one = best_;
      }
      best_ = *std::min_element(found.begin(), found.end(), better);
      found.assign(1, best_);
      step = 0.5;
    }
  }

  double left() const { return seconds_ - watch_.seconds(); }

  double expected_seconds(Index rows) const {
    const double ratio = static_cast<double>(rows) / static_cast<double>(last_rows_);
    return last_point_seconds_ * 20 * std::pow(ratio, kTimeGrowth);
  }

  void first_stage(ScalingMethod scaling, std::size_t scalings) {
    const TrainOptions base = with_scaling(of_exact(asked_), scaling);
    std::vector<TuneAxis> axes = usual_axes(data_, base, control_);
    if (keeps_cost(asked_))
      axes[0].values = {cost_of(asked_)};
    else
      axes[0].values = {0.5, 4, 32, 256};
    if (axes.size() > 1) {
      if (keeps_gamma(asked_))
        axes.pop_back();
      else
        axes[1].values = times(axes[1].values[5], {1.0 / 64, 1.0 / 16, 0.25, 1, 4, 16, 64});
    }
    search(base, std::move(axes), kFirstRows, 3, left() / static_cast<double>(scalings));
  }

  // Around the best; more rows allow a narrower kernel, so gamma looks further up than down.
  void next_stage(Index rows, double step, double seconds) {
    std::vector<TuneAxis> axes;
    axes.reserve(2);
    const double wide = std::pow(8, step);
    const double narrow = std::pow(4, step);
    if (!keeps_cost(asked_))
      axes.push_back(
          {"cost", times(cost_of(best_.options), {1 / (wide * wide), 1 / wide, 1, wide})});
    if (!keeps_gamma(asked_)) {
      axes.push_back(
          {"gamma", times(gamma_of(best_.options),
                          {1 / narrow, 1, narrow, narrow * narrow, narrow * narrow * narrow})});
    }
    if (axes.empty()) return;
    search(best_.options, std::move(axes), rows, 3, seconds);
  }

  void search(const TrainOptions& base, std::vector<TuneAxis> axes, Index rows, Index folds,
              double seconds) {
    TuneOptions options;
    options.base = base;
    options.base.max_seconds = 0;
    options.axes = std::move(axes);
    options.folds = std::clamp<Index>(folds, 2, std::max<Index>(2, data_.rows() / 2));
    options.rows = rows;
    options.max_seconds = std::max(0.05, seconds);
    options.racing = false;  // take() looks at the errors of points that are not the best, too
    try {
      const TuneResult found = search_parameters(data_, options, control_);
      last_rows_ = std::min(rows, data_.rows());
      last_point_seconds_ = found.seconds / static_cast<double>(found.points.size());
      if (!found.finished && !std::isnan(best_.error)) return;  // around the best, half is nothing
      take(found);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      // Not one point in time: what was found before, or the defaults, must do.
    }
  }

  // Few rows hardly tell points apart, and large costs take long: of those within one standard
  // error of the best, the lowest cost, and then the lowest error.
  void take(const TuneResult& found) {
    const TunePoint& lowest = found.points[found.best];
    const double margin = lowest.deviation / std::sqrt(static_cast<double>(found.folds));
    const TunePoint* chosen = &lowest;
    TrainOptions options = found.options;
    for (const TunePoint& point : found.points) {
      if (!(point.error <= lowest.error + margin)) continue;
      const TrainOptions there = options_at(found.options, found.axes, point.values);
      if (cost_of(there) > cost_of(options)) continue;
      if (cost_of(there) == cost_of(options) && point.error >= chosen->error) continue;
      chosen = &point;
      options = there;
    }
    best_.options = options;
    best_.error = chosen->error;
  }

  const Dataset& data_;
  const TrainOptions& asked_;
  double seconds_;
  RunControl control_;
  Stopwatch watch_;
  PilotParameters best_;
  Index last_rows_ = kFirstRows;
  double last_point_seconds_ = 0;
};

}  // namespace

PilotParameters pilot_parameters(const Dataset& data, const TrainOptions& asked, double seconds,
                                 const RunControl& control) {
  const TrainOptions with_units = with_chosen_tube(data, asked);
  return Pilot(data, with_units, seconds, control).run();
}

}  // namespace tamis

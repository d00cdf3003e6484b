#include "selection/tune_scoring.hpp"

#include <cmath>
#include <mutex>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "data/folds.hpp"
#include "methods/local/falk.hpp"
#include "methods/local/local_selection.hpp"
#include "selection/parameters.hpp"
#include "selection/tune_request.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "training/prepare.hpp"
#include "training/registry.hpp"
#include "training/run_method.hpp"

namespace tamis {
namespace {

TrainOptions options_of(const ScoringRound& round, std::size_t point) {
  return options_at(round.request.base, round.axes, round.points[point]);
}

std::vector<TrainOptions> valid_options(const ScoringRound& round) {
  std::vector<TrainOptions> all;
  for (std::size_t p = 0; p < round.points.size(); ++p) {
    all.push_back(options_of(round, p));
    all.back().validate();
  }
  return all;
}

std::vector<FoldScores> score_neighborhoods(const ScoringRound& round) {
  const TrainOptions base = round.clock.limit(round.request.base);
  const Prepared prepared = prepare(round.rows, base, true, round.control);
  std::vector<LocalPoint> points;
  for (const TrainOptions& options : valid_options(round)) {
    points.push_back({options.local.k.value_or(default_neighbours(round.rows.rows())),
                      cost_of(options) / cost_of(base),
                      gamma_or(options, prepared.set.kernel.gamma)});
  }
  const Stopwatch watch;
  const TrainContext context{base, round.control, {}};
  const auto shares = internal_cross_validation(prepared.set, points, round.request.centres,
                                                round.request.folds, context, round.on_part);
  std::vector<FoldScores> scores;
  scores.reserve(shares.size());
  for (const std::vector<double>& errors : shares)
    scores.push_back({errors, watch.seconds() / static_cast<double>(shares.size()), {}});
  return scores;
}

std::vector<FoldScores> score_shared(const ScoringRound& round) {
  const std::vector<TrainOptions> all = valid_options(round);
  // Prepared for the largest values, where float32 needs the most care.
  TrainOptions largest = round.request.base;
  for (const TrainOptions& options : all) raise_to(options, &largest);
  largest = round.clock.limit(largest);
  const Prepared prepared = prepare(round.rows, largest, true, round.control);
  std::vector<CostAndGamma> points;
  points.reserve(all.size());
  for (const TrainOptions& options : all)
    points.push_back({cost_of(options), gamma_or(options, prepared.set.kernel.gamma)});
  const TrainContext context{largest, round.control, {}};
  return cross_validate_exact(prepared.set, points, round.folds, context, round.on_part);
}

double score_fold(const ScoringRound& round, std::size_t point, std::size_t fold,
                  const RunControl& control) {
  const TrainOptions options = round.clock.limit(options_of(round, point));
  options.validate();
  const std::vector<Index>& held = round.folds[fold];
  const TrainResult trained =
      run_method(round.rows.select(all_but(held, round.rows.rows())), options, control);
  if (trained.report.stop_reason >= StopReason::time_limit) return std::nan("");
  const Evaluation result = evaluate(trained.model, round.rows.select(held), control);
  return options.task == Task::regression ? result.mse : result.error_rate;
}

// For one of as many trainings at once as there are threads.
RunControl control_of_one(const RunControl& control) {
  RunControl own;
  own.threads = 1;
  own.cancel = control.cancel;
  own.memory_bytes = resident_memory_bytes() +
                     memory_left(control.memory_bytes) / Index{resolve_threads(control.threads)};
  return own;
}

std::vector<FoldScores> score_whole_trainings(const ScoringRound& round) {
  const std::size_t folds = round.folds.size();
  std::vector<FoldScores> scores(round.points.size());
  for (FoldScores& one : scores) one.errors.assign(folds, std::nan(""));
  std::vector<double> seconds(scores.size() * folds, 0);
  const RunControl own = control_of_one(round.control);
  std::mutex failures;
  parallel_each(static_cast<Index>(seconds.size()), [&](Index task) {
    const std::size_t point = usize(task) / folds;
    const std::size_t fold = usize(task) % folds;
    if (round.control.cancelled() || round.clock.is_over()) return;
    const Stopwatch watch;
    try {
      scores[point].errors[fold] = isolated([&] { return score_fold(round, point, fold, own); });
    } catch (const Cancelled&) {
      return;
    } catch (const Error& error) {
      const std::lock_guard<std::mutex> lock(failures);
      scores[point].failure = error.what();
    }
    seconds[usize(task)] = watch.seconds();
    round.on_part();
  });
  for (std::size_t t = 0; t < seconds.size(); ++t) scores[t / folds].seconds += seconds[t];
  return scores;
}

bool can_share_kernel(const TuneOptions& request, std::span<const TuneAxis> axes, Index rows,
                      const RunControl& control) {
  if (!find_method(request.base.method).tuning.shares_kernel) return false;
  // Each training learns its own metric.
  if (request.base.metric_rounds_or_default() > 0) return false;
  Index gammas = 1;
  for (const TuneAxis& axis : axes) {
    if (axis.option == "gamma") gammas = std::ssize(axis.values);
    if (axis.option != "gamma" && axis.option != "cost") return false;
  }
  return fits_shared_grid(rows, gammas, control);
}

}  // namespace

Scoring choose_scoring(const TuneOptions& request, std::span<const TuneAxis> axes, Index rows,
                       const RunControl& control) {
  if (request.centres > 0) return Scoring::neighborhoods;
  return can_share_kernel(request, axes, rows, control) ? Scoring::shared_kernel
                                                        : Scoring::whole_trainings;
}

Index parts_per_point(const TuneOptions& request) {
  return request.centres > 0 ? request.centres : request.folds;
}

std::vector<FoldScores> score_points(const ScoringRound& round, Scoring scoring) {
  switch (scoring) {
    case Scoring::shared_kernel:
      return score_shared(round);
    case Scoring::whole_trainings:
      return score_whole_trainings(round);
    case Scoring::neighborhoods:
      return score_neighborhoods(round);
  }
  return {};
}

}  // namespace tamis

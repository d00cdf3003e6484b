#include "selection/tune_scoring.hpp"

#include <cmath>
#include <exception>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "data/folds.hpp"
#include "methods/local/falk.hpp"
#include "methods/local/local_selection.hpp"
#include "selection/parameters.hpp"
#include "selection/tune_request.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
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
    points.push_back({options.local.k.value_or(kDefaultNeighbors), cost_of(options) / cost_of(base),
                      gamma_or(options, prepared.set.kernel.gamma)});
  }
  const Stopwatch watch;
  const TrainContext context{base, round.control, {}};
  const auto shares = internal_cross_validation(prepared.set, points, round.request.centres,
                                                round.request.folds, context, round.on_part);
  std::vector<FoldScores> scores;
  scores.reserve(shares.size());
  for (const std::vector<double>& errors : shares)
    scores.push_back({errors, {}, watch.seconds() / static_cast<double>(shares.size()), {}});
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
  return cross_validate_exact(prepared.set, points, round.folds, round.racing, context,
                              round.on_part);
}

// By held-out row: 1 where the class is wrong, or the squared error.
std::vector<double> row_losses(const Model& model, const Dataset& held, const RunControl& control) {
  std::vector<double> losses;
  if (model.task() == Task::regression) {
    const Labels predicted = predict(model, held.features(), control);
    for (Index i = 0; i < held.rows(); ++i)
      losses.push_back(std::pow(predicted.number(i) - held.labels().number(i), 2));
    return losses;
  }
  const std::vector<std::int32_t> truth = encode_labels(held.labels(), model.classes());
  const std::vector<std::int32_t> codes = predict_codes(model, held.features(), control);
  for (std::size_t i = 0; i < codes.size(); ++i) losses.push_back(codes[i] == truth[i] ? 0 : 1);
  return losses;
}

// Empty when stopped.
std::vector<double> score_fold(const ScoringRound& round, std::size_t point, std::size_t fold,
                               const RunControl& control) {
  const TrainOptions options = round.clock.limit(options_of(round, point));
  options.validate();
  const std::vector<Index>& held = round.folds[fold];
  const TrainResult trained =
      run_method(round.rows.select(all_but(held, round.rows.rows())), options, control);
  if (trained.report.stop_reason >= StopReason::time_limit) return {};
  return row_losses(trained.model, round.rows.select(held), control);
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

// Whole trainings of some points, each on all folds but one of some.
void score_each(const ScoringRound& round, std::span<const std::size_t> points,
                const FoldRange& folds, std::vector<FoldScores>* scores) {
  const std::size_t count = folds.end - folds.begin;
  std::vector<double> seconds(points.size() * count, 0);
  std::vector<std::exception_ptr> failures(seconds.size());
  const RunControl own = control_of_one(round.control);
  parallel_each(std::ssize(seconds), [&](Index task) {
    FoldScores& point = (*scores)[points[usize(task) / count]];
    const std::size_t fold = folds.begin + usize(task) % count;
    if (round.control.cancelled() || round.clock.is_over()) return;
    const Stopwatch watch;
    try {
      const std::vector<double> losses =
          isolated([&] { return score_fold(round, points[usize(task) / count], fold, own); });
      if (!losses.empty()) set_losses(losses, fold, &point);
    } catch (const Cancelled&) {
      return;
    } catch (const Error&) {
      failures[usize(task)] = std::current_exception();
    }
    seconds[usize(task)] = watch.seconds();
    round.on_part();
  });
  for (std::size_t t = 0; t < seconds.size(); ++t) {
    FoldScores& point = (*scores)[points[t / count]];
    point.seconds += seconds[t];
    if (point.failure == nullptr) point.failure = failures[t];  // of the first fold that has one
  }
}

std::vector<FoldScores> score_whole_trainings(const ScoringRound& round) {
  Race race;
  race.points = round.points.size();
  race.folds = round.folds.size();
  race.racing = round.racing;
  race.on_skipped = round.on_part;
  race.score = [&round](std::span<const std::size_t> points, const FoldRange& folds,
                        std::vector<FoldScores>* scores) {
    score_each(round, points, folds, scores);
  };
  return run_race(race);
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

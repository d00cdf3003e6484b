#include "selection/search_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "selection/search_clock.hpp"
#include "selection/search_points.hpp"
#include "selection/search_rows.hpp"
#include "selection/tune_request.hpp"
#include "selection/tune_scoring.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr Index kSearchRows = 5000;
constexpr Index kShrink = 3;        // halving: rows of a round to rows of the one before
constexpr Index kFewestRows = 200;  // halving: of the first round
constexpr std::string_view kNotFinished = "not finished";
constexpr double kNever = std::numeric_limits<double>::infinity();

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

// The failure with another message: what kind it is, and so the exit code, stays.
[[noreturn]] void fail_like(const std::exception_ptr& failure, const std::string& message) {
  try {
    std::rethrow_exception(failure);
  } catch (const ResourceError&) {
    throw ResourceError(message);
  } catch (const DataError&) {
    throw DataError(message);
  } catch (const IoError&) {
    throw IoError(message);
  } catch (const Error&) {
    throw InvalidArgument(message);
  }
}

// The time was over before all folds were scored.
bool is_cut_short(const FoldScores& scores, bool racing) {
  return finished_folds(scores, racing) < scores.errors.size() && !scores.dropped &&
         scores.failure == nullptr;
}

// A point that was not finished keeps what an earlier round found.
void add_scores(const FoldScores& scores, Index rows, bool racing, TunePoint* point) {
  const std::size_t folds = finished_folds(scores, racing);
  point->seconds += scores.seconds;
  if (scores.failure != nullptr) point->failure = message_of(scores.failure);
  if (is_cut_short(scores, racing) && std::isnan(point->error)) point->failure = kNotFinished;
  if (folds == 0) return;
  const std::span<const double> errors(scores.errors.data(), folds);
  const auto n = static_cast<double>(folds);
  double mean = 0;
  for (const double e : errors) mean += e / n;
  double squares = 0;
  for (const double e : errors) squares += (e - mean) * (e - mean);
  point->error = mean;
  point->deviation = std::sqrt(squares / (n - 1));  // NaN with one fold
  point->folds = static_cast<Index>(folds);
  point->dropped = scores.dropped;
  point->rows = rows;
}

class ParameterSearch {
 public:
  ParameterSearch(const Dataset& data, const TuneOptions& options, const RunControl& control)
      : data_(data), options_(options), control_(control), clock_(options.max_seconds) {}

  TuneResult run() {
    result_.axes = search_axes(data_, options_, control_);
    result_.folds = options_.folds;
    result_.points = unscored_points();
    failures_.resize(result_.points.size());
    result_.rows = rows_to_search();
    std::vector<std::size_t> left(result_.points.size());
    std::iota(left.begin(), left.end(), 0);
    for (const Index rows : round_rows(options_.search, left.size(), result_.rows)) {
      result_.finished = score(left, rows);
      if (rows == result_.rows) break;
      keep_best(&left);
      if (control_.cancelled() || clock_.is_over()) {
        result_.finished = false;
        break;
      }
    }
    choose(left);
    result_.seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  std::vector<TunePoint> unscored_points() const {
    std::vector<TunePoint> points;
    for (std::vector<double>& values : point_values()) {
      TunePoint point;
      point.values = std::move(values);
      point.error = std::nan("");
      points.push_back(std::move(point));
    }
    return points;
  }

  std::vector<std::vector<double>> point_values() const {
    if (options_.search != Search::random) return grid_points(result_.axes);
    Random random = search_points_random(options_.base);
    std::vector<std::uint8_t> whole;
    for (const TuneAxis& axis : result_.axes) whole.push_back(is_whole(axis) ? 1 : 0);
    return random_points(result_.axes, whole, options_.points, random);
  }

  Index rows_to_search() const {
    const Index all = data_.rows();
    const Index usual = options_.centres > 0 ? kAllRows : kSearchRows;
    const Index rows = std::min(options_.rows.value_or(usual), all);
    if (rows < options_.folds)
      throw DataError(fmt::format("{} too few for {}", counted(rows, "row is", "rows are"),
                                  counted(options_.folds, "fold")));
    return rows;
  }

  // Whether every point was scored.
  bool score(std::span<const std::size_t> which, Index rows) {
    const Dataset drawn = draw_search_rows(data_, rows, options_.base);
    // Deaf to cancelling: what was finished is kept.
    ProgressMeter meter(unstopped(control_), "tune", std::ssize(which) * parts_per_point(options_));
    const bool racing = can_race(options_) && race_bytes(which.size(), drawn.rows()) <=
                                                  memory_left(control_.memory_bytes) / 4;
    const Scoring scoring = choose_scoring(options_, result_.axes, drawn.rows(), control_);
    if (scoring == Scoring::shared_kernel) result_.shared_kernel = true;
    // A whole training knows its limit, predicting the validation set knows none.
    const Deadline deadline(control_, scoring == Scoring::whole_trainings ? clock_.left() : kNever);
    ScoringRound round{options_, result_.axes,       {}, drawn, {}, racing,
                       clock_,   deadline.control(), {}};
    round.folds = deal_search_folds(drawn, options_.folds, options_.base);
    round.on_part = [&meter] { meter.add(1); };
    for (const std::size_t p : which) round.points.emplace_back(result_.points[p].values);
    const std::vector<FoldScores> scores = score_points(round, scoring);
    bool finished = true;
    for (std::size_t k = 0; k < which.size(); ++k) {
      finished = finished && !is_cut_short(scores[k], racing);
      add_scores(scores[k], drawn.rows(), racing, &result_.points[which[k]]);
      if (scores[k].failure != nullptr) failures_[which[k]] = scores[k].failure;
    }
    return finished;
  }

  bool comes_first(std::size_t a, std::size_t b) const {
    return is_better(result_.points[a], result_.points[b]);
  }

  void keep_best(std::vector<std::size_t>* left) const {
    std::sort(left->begin(), left->end(),
              [&](std::size_t a, std::size_t b) { return comes_first(a, b); });
    left->resize((left->size() + kShrink - 1) / kShrink);
    std::sort(left->begin(), left->end());
  }

  void choose(std::span<const std::size_t> left) {
    result_.best = *std::min_element(
        left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return comes_first(a, b); });
    const TunePoint& best = result_.points[result_.best];
    if (std::isnan(best.error)) refuse();
    result_.options = options_at(options_.base, result_.axes, best.values);
  }

  // Not one point has an error.
  [[noreturn]] void refuse() const {
    if (control_.cancelled()) throw Cancelled();
    const std::exception_ptr& failure = failures_[result_.best];
    if (failure == nullptr) throw Error("no point was finished within the time limit: raise it");
    fail_like(failure, "no point could be trained: " + message_of(failure));
  }

  const Dataset& data_;
  const TuneOptions& options_;
  const RunControl& control_;
  SearchClock clock_;
  TuneResult result_;
  std::vector<std::exception_ptr> failures_;  // by point
};

}  // namespace

std::vector<Index> round_rows(Search search, std::size_t points, Index rows) {
  std::vector<Index> rounds{rows};
  if (search != Search::halving) return rounds;
  Index left = static_cast<Index>(points);
  while (left > kShrink && rounds.front() / kShrink >= kFewestRows) {
    rounds.insert(rounds.begin(), rounds.front() / kShrink);
    left /= kShrink;
  }
  return rounds;
}

bool can_race(const TuneOptions& options) {
  return options.racing && options.search != Search::halving && options.centres == 0;
}

bool is_better(const TunePoint& a, const TunePoint& b) {
  if (std::isnan(a.error) || std::isnan(b.error))
    return !std::isnan(a.error) && std::isnan(b.error);
  if (a.folds != b.folds) return a.folds > b.folds;
  if (a.error != b.error) return a.error < b.error;
  return a.values < b.values;
}

TuneResult search_parameters(const Dataset& data, const TuneOptions& options,
                             const RunControl& control) {
  return with_threads(control.threads,
                      [&] { return ParameterSearch(data, options, control).run(); });
}

}  // namespace tamis

// tune(): checks, points, rows, folds, and which way they are scored. The shared way is in
// src/selection.
#include "tamis/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "api/method_table.hpp"
#include "api/prepare.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "data/folds.hpp"
#include "methods/falk.hpp"
#include "methods/local_selection.hpp"
#include "selection/search_points.hpp"
#include "selection/shared_grid.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/text.hpp"
#include "tamis/train.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kTuneStream = 0x7E5E;  // random numbers that no method draws
constexpr Index kSearchRows = 5000;
constexpr Index kShrink = 3;        // halving: rows of a round to rows of the one before
constexpr Index kFewestRows = 200;  // halving: of the first round

const OptionDescription& find_option(std::string_view name) {
  for (const OptionDescription& option : train_option_table()) {
    if (option.name == name) return option;
  }
  throw InvalidArgument(fmt::format("there is no option '{}' to tune", name));
}

bool takes(const OptionDescription& option, std::string_view text) {
  TrainOptions scratch;
  try {
    option.set(scratch, text);
  } catch (const InvalidArgument&) {
    return false;
  }
  return true;
}

// What k'-internal cross-validation can do.
void require_local(const TuneOptions& options) {
  constexpr std::array<std::string_view, 3> kLocal{"falk", "falk-c", "knn-svm"};
  if (std::find(kLocal.begin(), kLocal.end(), options.base.method) == kLocal.end())
    throw InvalidArgument(fmt::format("centres are for the methods {}", fmt::join(kLocal, ", ")));
  if (options.search == Search::halving)
    throw InvalidArgument("halving searches on ever more rows, centres on all: choose one of them");
  for (const TuneAxis& axis : options.axes) {
    if (axis.option != "cost" && axis.option != "gamma" && axis.option != "k") {
      throw InvalidArgument(
          fmt::format("with centres, cost, gamma and k can be tried, not {}", axis.option));
    }
  }
}

void require_axis(const TuneAxis& axis, const std::string& method) {
  const OptionDescription& option = find_option(axis.option);
  if (option.value != "NUMBER" || option.name == "seed")
    throw InvalidArgument(fmt::format("{} cannot be tuned: it is not a number", axis.option));
  if (!applies_to(option, method))
    throw InvalidArgument(fmt::format("{} has no option {} to tune", method, axis.option));
  if (axis.values.empty())
    throw InvalidArgument(fmt::format("no values of {} to try", axis.option));
  for (const double value : axis.values) {
    if (!takes(option, fmt::format("{}", value)))
      throw InvalidArgument(fmt::format("{} cannot be {}", axis.option, value));
  }
}

bool has_gamma(const TrainOptions& options) {
  return find_method(options.method).uses_kernel && options.kernel != KernelType::linear &&
         options.kernel != KernelType::precomputed;
}

std::vector<double> powers(double from, double factor, int count) {
  std::vector<double> values(usize(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = from * std::pow(factor, static_cast<double>(i));
  return values;
}

// Rows to search on: drawn from each class in proportion; rows of weight 0 are not among them.
Dataset draw(const Dataset& data, Index rows, const TrainOptions& base) {
  Strata strata = row_strata(data, base.task == Task::regression);
  Random random(base.seed, kTuneStream);
  return data.select(draw_rows(std::move(strata), rows, random));
}

std::vector<std::vector<Index>> deal(const Dataset& data, Index folds, const TrainOptions& base) {
  Random random(base.seed, kTuneStream + 1);
  return deal_rows(row_strata(data, base.task == Task::regression), folds, random);
}

class Tuner {
 public:
  Tuner(const Dataset& data, const TuneOptions& options, const RunControl& control)
      : data_(data), options_(options), control_(control) {}

  TuneResult run() {
    result_.axes =
        options_.axes.empty() ? default_axes(data_, options_.base, control_) : options_.axes;
    for (const TuneAxis& axis : result_.axes) require_axis(axis, options_.base.method);
    result_.folds = options_.folds;
    for (std::vector<double>& values : make_points()) {
      TunePoint point;
      point.values = std::move(values);
      point.error = std::nan("");
      result_.points.push_back(std::move(point));
    }
    const Index all = data_.rows();
    const Index asked = options_.rows >= 0 ? options_.rows : on_neighbourhoods() ? 0 : kSearchRows;
    result_.rows = asked > 0 ? std::min(asked, all) : all;
    if (result_.rows < options_.folds)
      throw DataError(fmt::format("{} too few for {}", counted(all, "row is", "rows are"),
                                  counted(options_.folds, "fold")));
    std::vector<std::size_t> left(result_.points.size());
    std::iota(left.begin(), left.end(), 0);
    for (const Index rows : rounds()) {
      score(left, rows);
      if (rows < result_.rows) keep_best(&left);
      if (control_.cancelled() || seconds_left() <= 0) break;
    }
    choose(left);
    result_.seconds = watch_.seconds();
    return std::move(result_);
  }

 private:
  std::vector<std::vector<double>> make_points() const {
    if (options_.search != Search::random) return grid_points(result_.axes);
    Random random(options_.base.seed, kTuneStream + 2);
    std::vector<std::uint8_t> whole;
    for (const TuneAxis& axis : result_.axes)
      whole.push_back(takes(find_option(axis.option), "1.5") ? 0 : 1);
    return random_points(result_.axes, whole, options_.points, random);
  }

  // Rows of each round; one round unless halving.
  std::vector<Index> rounds() const {
    std::vector<Index> rows{result_.rows};
    if (options_.search != Search::halving) return rows;
    Index points = static_cast<Index>(result_.points.size());
    while (points > kShrink && rows.front() / kShrink >= kFewestRows) {
      rows.insert(rows.begin(), rows.front() / kShrink);
      points /= kShrink;
    }
    return rows;
  }

  double seconds_left() const {
    if (options_.max_seconds == 0) return std::numeric_limits<double>::infinity();
    return options_.max_seconds - watch_.seconds();
  }

  TrainOptions options_at(const TunePoint& point) const {
    TrainOptions options = options_.base;
    for (std::size_t a = 0; a < result_.axes.size(); ++a)
      find_option(result_.axes[a].option).set(options, fmt::format("{}", point.values[a]));
    return options;
  }

  bool can_share(Index rows) const {
    if (options_.base.method != "exact") return false;
    Index gammas = 1;
    for (const TuneAxis& axis : result_.axes) {
      if (axis.option == "gamma") gammas = static_cast<Index>(axis.values.size());
      if (axis.option != "gamma" && axis.option != "cost") return false;
    }
    return fits_shared_grid(rows, gammas, control_);
  }

  bool on_neighbourhoods() const { return options_.centres > 0; }

  void score(std::span<const std::size_t> which, Index rows) {
    const Dataset drawn = draw(data_, rows, options_.base);
    const auto folds = deal(drawn, options_.folds, options_.base);
    RunControl unstopped = control_;
    unstopped.cancel = nullptr;  // what was finished is kept
    const Index parts = on_neighbourhoods() ? options_.centres : options_.folds;
    ProgressMeter meter(unstopped, "tune", static_cast<Index>(which.size()) * parts);
    std::vector<FoldScores> scores;
    if (on_neighbourhoods()) {
      scores = score_neighbourhoods(drawn, which, &meter);
    } else if (can_share(drawn.rows())) {
      result_.shared_kernel = true;
      scores = score_shared(drawn, folds, which, &meter);
    } else {
      scores = score_each(drawn, folds, which, &meter);
    }
    for (std::size_t k = 0; k < which.size(); ++k)
      take(scores[k], drawn.rows(), &result_.points[which[k]]);
  }

  std::vector<FoldScores> score_neighbourhoods(const Dataset& drawn,
                                               std::span<const std::size_t> which,
                                               ProgressMeter* meter) {
    TrainOptions base = options_.base;
    if (std::isfinite(seconds_left())) base.max_seconds = std::max(1e-9, seconds_left());
    const Prepared prepared = prepare(drawn, base, true, control_);
    std::vector<LocalPoint> points;
    for (const std::size_t p : which) {
      const TrainOptions options = options_at(result_.points[p]);
      options.validate();
      points.push_back({options.local.k > 0 ? options.local.k : default_neighbours(drawn.rows()),
                        options.cost / base.cost,
                        options.gamma.rule == Gamma::Rule::value ? options.gamma.value
                                                                 : prepared.set.kernel.gamma});
    }
    const Stopwatch watch;
    const TrainContext context{base, control_, {}};
    const auto shares = internal_cross_validation(prepared.set, points, options_.centres,
                                                  options_.folds, context, [&] { meter->add(1); });
    std::vector<FoldScores> scores;
    scores.reserve(shares.size());
    for (const std::vector<double>& errors : shares)
      scores.push_back({errors, watch.seconds() / static_cast<double>(shares.size())});
    return scores;
  }

  std::vector<FoldScores> score_shared(const Dataset& drawn,
                                       const std::vector<std::vector<Index>>& folds,
                                       std::span<const std::size_t> which, ProgressMeter* meter) {
    // Prepared for the largest values, where float32 needs the most care.
    TrainOptions largest = options_.base;
    std::vector<CostAndGamma> points;
    for (const std::size_t p : which) {
      const TrainOptions options = options_at(result_.points[p]);
      options.validate();
      largest.cost = std::max(largest.cost, options.cost);
      if (options.gamma.rule == Gamma::Rule::value &&
          (largest.gamma.rule != Gamma::Rule::value || options.gamma.value > largest.gamma.value))
        largest.gamma = options.gamma;
      points.push_back({options.cost, options.gamma.value});
    }
    if (std::isfinite(seconds_left())) largest.max_seconds = std::max(1e-9, seconds_left());
    const Prepared prepared = prepare(drawn, largest, true, control_);
    if (largest.gamma.rule != Gamma::Rule::value) {
      for (CostAndGamma& point : points) point.gamma = prepared.set.kernel.gamma;
    }
    const TrainContext context{largest, control_, {}};
    return cross_validate_exact(prepared.set, points, folds, context, [&] { meter->add(1); });
  }

  // Whole trainings, each on one thread, as many at once as there are threads.
  std::vector<FoldScores> score_each(const Dataset& drawn,
                                     const std::vector<std::vector<Index>>& folds,
                                     std::span<const std::size_t> which, ProgressMeter* meter) {
    std::vector<FoldScores> scores(which.size());
    for (FoldScores& one : scores) one.errors.assign(folds.size(), std::nan(""));
    std::vector<double> seconds(which.size() * folds.size(), 0);
    RunControl own;
    own.threads = 1;
    own.cancel = control_.cancel;
    own.memory_bytes = resident_memory_bytes() + memory_left(control_.memory_bytes) /
                                                     Index{resolve_threads(control_.threads)};
    std::mutex failures;
    parallel_each(static_cast<Index>(seconds.size()), [&](Index task) {
      const std::size_t k = usize(task) / folds.size();
      const std::size_t fold = usize(task) % folds.size();
      TunePoint& point = result_.points[which[k]];
      if (control_.cancelled() || seconds_left() <= 0) return;
      const Stopwatch watch;
      try {
        scores[k].errors[fold] =
            isolated([&] { return score_one(drawn, folds[fold], point, own); });
      } catch (const Cancelled&) {
        return;
      } catch (const Error& error) {
        const std::lock_guard<std::mutex> lock(failures);
        point.failure = error.what();
      }
      seconds[usize(task)] = watch.seconds();
      meter->add(1);
    });
    for (std::size_t t = 0; t < seconds.size(); ++t) scores[t / folds.size()].seconds += seconds[t];
    return scores;
  }

  double score_one(const Dataset& drawn, const std::vector<Index>& held, const TunePoint& point,
                   const RunControl& control) const {
    TrainOptions options = options_at(point);
    if (std::isfinite(seconds_left())) options.max_seconds = std::max(1e-9, seconds_left());
    const TrainResult trained = train(drawn.select(all_but(held, drawn.rows())), options, control);
    if (trained.report.stop_reason >= StopReason::time_limit) return std::nan("");
    const Evaluation result = evaluate(trained.model, drawn.select(held), control);
    return options.task == Task::regression ? result.mse : result.error_rate;
  }

  // A point that was not finished keeps what an earlier round found.
  static void take(const FoldScores& scores, Index rows, TunePoint* point) {
    const auto n = static_cast<double>(scores.errors.size());
    double mean = 0;
    for (const double e : scores.errors) mean += e / n;  // NaN when a fold is missing
    point->seconds += scores.seconds;
    if (std::isnan(mean)) {
      if (point->failure.empty() && std::isnan(point->error)) point->failure = "not finished";
      return;
    }
    double squares = 0;
    for (const double e : scores.errors) squares += (e - mean) * (e - mean);
    point->error = mean;
    point->deviation = std::sqrt(squares / (n - 1));
    point->rows = rows;
  }

  // Lower error first; then lower values, which make smoother machines. Unknown errors last.
  bool is_better(std::size_t a, std::size_t b) const {
    const TunePoint& first = result_.points[a];
    const TunePoint& second = result_.points[b];
    if (std::isnan(first.error) || std::isnan(second.error))
      return !std::isnan(first.error) && std::isnan(second.error);
    if (first.error != second.error) return first.error < second.error;
    return first.values < second.values;
  }

  void keep_best(std::vector<std::size_t>* left) const {
    std::sort(left->begin(), left->end(),
              [&](std::size_t a, std::size_t b) { return is_better(a, b); });
    left->resize((left->size() + kShrink - 1) / kShrink);
    std::sort(left->begin(), left->end());
  }

  void choose(std::span<const std::size_t> left) {
    result_.best = *std::min_element(left.begin(), left.end(),
                                     [&](std::size_t a, std::size_t b) { return is_better(a, b); });
    for (const std::size_t p : left) {
      const TunePoint& point = result_.points[p];
      if (std::isnan(point.error) && point.failure == "not finished") result_.finished = false;
    }
    const TunePoint& best = result_.points[result_.best];
    if (std::isnan(best.error)) {
      if (control_.cancelled()) throw Cancelled();
      throw InvalidArgument(best.failure == "not finished"
                                ? "no point was finished in the time given: allow more of it"
                                : "no point could be trained: " + best.failure);
    }
    result_.options = options_at(best);
  }

  const Dataset& data_;
  const TuneOptions& options_;
  const RunControl& control_;
  Stopwatch watch_;
  TuneResult result_;
};

}  // namespace

std::string_view search_name(Search search) {
  switch (search) {
    case Search::grid:
      return "grid";
    case Search::random:
      return "random";
    case Search::halving:
      return "halving";
  }
  return "";
}

std::vector<TuneAxis> default_axes(const Dataset& data, const TrainOptions& base,
                                   const RunControl& control) {
  if (base.method == "falk-l")
    throw InvalidArgument("falk-l chooses its parameters itself: name others to tune");
  if (base.method == "knn") return {{"k", {1, 3, 5, 9, 15, 25, 45}}};
  const bool is_exact = base.method == "exact";
  std::vector<TuneAxis> axes;
  if (base.method != "opt-margin")  // a hard margin has no cost
    axes.push_back({"cost", is_exact ? powers(std::ldexp(1, -5), 4, 10) : powers(0.5, 8, 5)});
  if (!has_gamma(base)) return axes;
  const Dataset some = draw(data, 5000, base);
  const Scaling scaling = Scaling::fit(some.features(), base.scaling, 0, 1, control);
  const double gamma = resolve_gamma({}, scaling.apply(some.features(), control));
  axes.push_back(
      {"gamma", is_exact ? powers(gamma * std::ldexp(1, -10), 4, 10) : powers(gamma / 16, 8, 5)});
  return axes;
}

TuneResult tune(const Dataset& data, const TuneOptions& options, const RunControl& control) {
  options.base.validate();
  if (options.folds < 2)
    throw InvalidArgument(fmt::format("folds is {}: it must be at least 2", options.folds));
  if (options.centres < 0 || options.centres == 1)
    throw InvalidArgument(
        fmt::format("centres is {}: it must be 2 or more, or 0", options.centres));
  if (options.centres > 0) require_local(options);
  if (options.points < 1)
    throw InvalidArgument(fmt::format("points is {}: it must be at least 1", options.points));
  return with_threads(control.threads, [&] { return Tuner(data, options, control).run(); });
}

}  // namespace tamis

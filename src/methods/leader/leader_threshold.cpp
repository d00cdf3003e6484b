#include "methods/leader/leader_threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "methods/leader/leader_pass.hpp"
#include "methods/sifting/sifting.hpp"
#include "neighbors/distances.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kMostLeaders = 20'000;  // unless asked for
constexpr Index kFirstRows = 16'000;    // of the sample that a threshold is sought on
constexpr Index kRowsPerLeader = 10;    // of the one that it is corrected on
constexpr int kMostTrials = 24;
constexpr int kMostCorrections = 4;
constexpr double kCloseEnough = 0.03;  // of log(leaders / wanted)
constexpr double kLeastSlope = 0.1;    // of log leaders by log threshold: flatter tells nothing

Index wanted_leaders(Index rows, Index classes, const LeaderOptions& options) {
  if (options.leaders) return *options.leaders;
  const Index least = kLeastOfAClass * classes;
  return std::clamp(rows / 10, std::min(rows, least), std::max(kMostLeaders, least));
}

// Indexes over the rows of each class of a sample.
class Sample {
 public:
  Sample(const TrainingSet& data, const Metric& metric, std::span<const Index> rows, Random random,
         const TrainContext& context)
      : context_(context), rows_(static_cast<Index>(rows.size())) {
    for (std::vector<Index>& of_class : rows_by_class(data, rows)) {
      random.shuffle(of_class);
      if (of_class.empty()) continue;
      classes_.push_back(make_neighbor_index(data.features.select(of_class), metric,
                                             Structure::automatic, context.control));
    }
  }

  double num_leaders(double threshold) const {
    Index count = 0;
    for (const auto& index : classes_)
      count += static_cast<Index>(leaders_of(*index, threshold, context_).size());
    return static_cast<double>(count);
  }

  // Beyond this there is one leader a class.
  double largest_threshold() const {
    double largest = 0;
    for (const auto& index : classes_) {
      for (const float squared : index
                                     ->nearest(index->space().points(), std::vector<Index>{0},
                                               index->num_points(), context_.control)
                                     .squared_distances)
        largest = std::max(largest, static_cast<double>(squared));
    }
    return 2 * std::sqrt(largest);
  }

  double rows() const { return static_cast<double>(rows_); }

 private:
  const TrainContext& context_;
  Index rows_;
  std::vector<std::unique_ptr<NeighborIndex>> classes_;
};

// The leaders of `total` rows, from those of a sample, a quarter of it and a quarter of that.
class Forecast {
 public:
  // `step` numbers the random draws.
  Forecast(const TrainingSet& data, const Metric& metric, Index most_rows, Index total,
           std::uint64_t step, const TrainContext& context)
      : total_(static_cast<double>(total)) {
    double share = std::min(1.0, static_cast<double>(most_rows) / static_cast<double>(data.rows()));
    std::vector<Index> rows = all_rows(data);
    const std::size_t count = share == 1 && data.rows() == total ? 1 : 3;
    while (samples_.size() < count) {
      rows = draw_rows(data, rows, share, 1, sift_random(context, step++));
      samples_.emplace_back(data, metric, rows, sift_random(context, step++), context);
      share = 0.25;
    }
  }

  double num_leaders(double threshold) const {
    const double count = samples_[0].num_leaders(threshold);
    if (samples_.size() == 1) return count;
    return count * leader_growth({samples_[2].rows(), samples_[1].rows(), samples_[0].rows()},
                                 {samples_[2].num_leaders(threshold),
                                  samples_[1].num_leaders(threshold), count},
                                 total_);
  }

  double largest_threshold() const { return samples_[0].largest_threshold(); }

 private:
  double total_;
  std::vector<Sample> samples_;
};

// By bisection.
double first_threshold(const Forecast& forecast, double wanted, const TrainContext& context) {
  double high = forecast.largest_threshold();
  double low = 1e-6 * high;
  double threshold = low;
  for (int trial = 0; trial < kMostTrials && low < high; ++trial) {
    if (context.must_stop() != StopReason::converged) break;
    threshold = std::sqrt(low * high);
    const double miss = std::log(forecast.num_leaders(threshold) / wanted);
    if (std::abs(miss) < kCloseEnough) break;
    (miss > 0 ? low : high) = threshold;
  }
  return threshold;
}

// The exponent, d log leaders / d log rows, falls by the same factor each time the rows double:
// holds long, but where the data are full of leaders it falls ever faster.
double growth_by_exponents(const double (&rows)[3], const double (&leaders)[3], double n) {
  const auto exponent = [&](int i) {
    return std::min(1.0, std::log(leaders[i + 1] / leaders[i]) / std::log(rows[i + 1] / rows[i]));
  };
  const double before = exponent(0);
  const double last = exponent(1);
  // By log rows; both exponents are those of the middle between two samples.
  const double rate = std::min(0.0, 2 * std::log(last / before) / std::log(rows[2] / rows[0]));
  const double at_end = last * std::exp(rate * std::log(rows[2] / rows[1]) / 2);
  const double reach = std::log(n / rows[2]);
  return std::exp(at_end * (rate < 0 ? std::expm1(rate * reach) / rate : reach));
}

// 1 / leaders = a + b rows^-p: holds where the data are nearly full (in d dimensions p tends to 1 /
// d), too low before.
double growth_by_inverses(const double (&rows)[3], const double (&leaders)[3], double n) {
  const double before = 1 / leaders[0] - 1 / leaders[1];
  const double last = 1 / leaders[1] - 1 / leaders[2];
  const double most = n / rows[2];
  const double steps = std::log(most) / std::log(rows[2] / rows[1]);
  const double factor = last / before;  // of one step to the next
  if (!(factor > 0 && factor < 1)) return most;
  const double fall = last * factor * (1 - std::pow(factor, steps)) / (1 - factor);
  const double inverse = 1 / leaders[2] - fall;
  return inverse > 0 ? std::min(most, 1 / (inverse * leaders[2])) : most;
}

// By secants of log leaders over log threshold; `slope` is that of the first.
double corrected(double threshold, double slope, const Forecast& forecast, double wanted,
                 const TrainContext& context) {
  double best = threshold;
  double best_miss = std::numeric_limits<double>::infinity();
  double last_miss = 0;
  double step = 0;
  for (int trial = 0; trial < kMostCorrections; ++trial) {
    const double miss = std::log(forecast.num_leaders(threshold) / wanted);
    if (context.must_stop() != StopReason::converged) break;  // not all were counted
    if (std::abs(miss) < std::abs(best_miss)) {
      best = threshold;
      best_miss = miss;
    }
    if (std::abs(miss) < kCloseEnough) break;
    if (trial > 0 && (last_miss - miss) / step > kLeastSlope) slope = (last_miss - miss) / step;
    if (slope < kLeastSlope) break;
    step = std::clamp(miss / slope, -1.0, 1.0);
    threshold *= std::exp(step);
    last_miss = miss;
  }
  return best;
}

}  // namespace

double leader_growth(const double (&rows)[3], const double (&leaders)[3], double n) {
  if (n <= rows[2] || !(leaders[2] > leaders[1])) return 1;
  return std::sqrt(growth_by_exponents(rows, leaders, n) * growth_by_inverses(rows, leaders, n));
}

std::vector<double> leader_thresholds(const TrainingSet& data, const Metric& metric, Index total,
                                      const TrainContext& context) {
  const LeaderOptions& options = context.options.leader;
  std::vector<double> thresholds(usize(data.num_classes), options.threshold.value_or(0));
  for (const auto& [label, threshold] : options.class_thresholds) {
    const Index c = find_class(data.classes, label);
    if (c < 0) {
      throw InvalidArgument(
          fmt::format("threshold names class {}, which the data does not have", label));
    }
    thresholds[usize(c)] = threshold;
  }
  const auto open = std::count(thresholds.begin(), thresholds.end(), 0.0);
  if (open > 0 && !options.class_thresholds.empty()) {
    throw InvalidArgument("threshold names some of the classes: give a number for the others too");
  }
  if (open > 0) {
    const Index wanted = wanted_leaders(total, data.num_classes, options);
    std::fill(thresholds.begin(), thresholds.end(),
              find_threshold(data, metric, wanted, total, context));
  }
  return thresholds;
}

double find_threshold(const TrainingSet& data, const Metric& metric, Index wanted, Index total,
                      const TrainContext& context) {
  const auto goal = static_cast<double>(wanted);
  double threshold = 0;
  double slope = 0;
  {
    const Forecast first(data, metric, kFirstRows, total, 1, context);
    threshold = first_threshold(first, goal, context);
    constexpr double kAside = 1.1;
    slope = std::log(first.num_leaders(threshold) / first.num_leaders(kAside * threshold)) /
            std::log(kAside);
  }
  const Index rows = wanted < data.rows() / kRowsPerLeader ? kRowsPerLeader * wanted : data.rows();
  if (rows <= kFirstRows || context.must_stop() != StopReason::converged) return threshold;
  const Forecast second(data, metric, rows, total, 7, context);
  return corrected(threshold, slope, second, goal, context);
}

Index threshold_sample_rows(const LeaderOptions& options) {
  const Index leaders = options.leaders.value_or(kMostLeaders);
  constexpr Index kMost = std::numeric_limits<Index>::max() / kRowsPerLeader;
  return std::max(kFirstRows, kRowsPerLeader * std::min(leaders, kMost));
}

}  // namespace tamis

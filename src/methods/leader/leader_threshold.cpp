#include "methods/leader/leader_threshold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "methods/leader/leader_pass.hpp"
#include "methods/sifting/sifting.hpp"
#include "neighbors/distances.hpp"

namespace tamis {
namespace {

constexpr Index kMostLeaders = 20'000;  // unless asked for
constexpr Index kFirstRows = 16'000;    // of the samples that thresholds are sought on
constexpr Index kRowsPerLeader = 10;    // of the one that it is corrected on
constexpr int kMostTrials = 24;
constexpr int kMostCorrections = 4;
constexpr double kCloseEnough = 0.03;  // of log(leaders / wanted)
constexpr double kLeastSlope = 0.1;    // of log leaders by log threshold: flatter tells nothing

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Some of the rows, an index over those of each class.
class Sample {
 public:
  Sample(const TrainingSet& data, const Metric& metric, std::span<const Index> rows, Random random,
         const TrainContext& context, const FetchRows& fetch)
      : context_(context), rows_(static_cast<double>(rows.size())) {
    for (std::vector<Index>& of_class : rows_by_class(data, rows)) {
      random.shuffle(of_class);
      classes_.push_back(
          of_class.empty()
              ? nullptr
              : make_neighbor_index(fetch ? fetch(of_class) : data.features.select(of_class),
                                    metric, Structure::automatic, context.control));
    }
  }

  double rows() const { return rows_; }

  // Of each class.
  std::vector<double> num_leaders(double threshold) const {
    std::vector<double> result;
    for (const auto& index : classes_) {
      result.push_back(index ? static_cast<double>(leaders_of(*index, threshold, context_).size())
                             : 0);
    }
    return result;
  }

  // Beyond this there is one leader per class.
  double largest_threshold() const {
    double largest = 0;
    for (const auto& index : classes_) {
      if (!index) continue;
      const Neighbors all = index->nearest(index->space().points(), std::vector<Index>{0},
                                           index->num_points(), context_.control);
      largest = std::max(largest, static_cast<double>(all.squared_distances.back()));
    }
    return 2 * std::sqrt(largest);
  }

 private:
  const TrainContext& context_;
  double rows_;
  std::vector<std::unique_ptr<NeighborIndex>> classes_;  // null: no rows
};

// The leaders of all rows of some classes, from those of a sample, a quarter of it and a quarter of
// that.
class Forecast {
 public:
  // `step` numbers the random draws.
  Forecast(const TrainingSet& data, const Metric& metric, const LeaderGoal& goal, Index most_rows,
           std::uint64_t step, const TrainContext& context, const FetchRows& fetch)
      : total_(static_cast<double>(goal.total)) {
    std::vector<Index> rows(goal.rows.begin(), goal.rows.end());
    const auto at_hand = static_cast<Index>(rows.size());
    double share = std::min(1.0, static_cast<double>(most_rows) / static_cast<double>(at_hand));
    const std::size_t count = share == 1 && at_hand == goal.total ? 1 : 3;
    while (samples_.size() < count) {
      rows = draw_rows(data, rows, share, 1, sift_random(context, step++));
      samples_.emplace_back(data, metric, rows, sift_random(context, step++), context, fetch);
      share = 0.25;
    }
  }

  // Of each class. They are taken to grow alike: how those of all classes grow is known better.
  std::vector<double> num_leaders(double threshold) const {
    std::vector<double> leaders = samples_[0].num_leaders(threshold);
    if (samples_.size() == 1) return leaders;
    const double growth =
        leader_growth({samples_[2].rows(), samples_[1].rows(), samples_[0].rows()},
                      {sum(samples_[2].num_leaders(threshold)),
                       sum(samples_[1].num_leaders(threshold)), sum(leaders)},
                      total_);
    for (double& of_class : leaders) of_class *= growth;
    return leaders;
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
    const double miss = std::log(sum(forecast.num_leaders(threshold)) / wanted);
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
FoundThreshold corrected(double threshold, double slope, const Forecast& forecast, double wanted,
                         const TrainContext& context) {
  FoundThreshold best{threshold, {}};
  double best_miss = std::numeric_limits<double>::infinity();
  double last_miss = 0;
  double step = 0;
  for (int trial = 0; trial < kMostCorrections; ++trial) {
    std::vector<double> leaders = forecast.num_leaders(threshold);
    const double miss = std::log(sum(leaders) / wanted);
    if (context.must_stop() != StopReason::converged) break;  // not all were counted
    if (std::abs(miss) < std::abs(best_miss)) {
      best = {threshold, std::move(leaders)};
      best_miss = miss;
    }
    if (std::abs(miss) < kCloseEnough) break;
    if (trial > 0 && (last_miss - miss) / step > kLeastSlope) slope = (last_miss - miss) / step;
    if (slope < kLeastSlope) slope = 1;  // of samples too small for what is looked for
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

FoundThreshold find_threshold(const TrainingSet& data, const Metric& metric, const LeaderGoal& goal,
                              std::uint64_t step, const TrainContext& context,
                              const FetchRows& fetch) {
  const auto at_hand = static_cast<Index>(goal.rows.size());
  const auto wanted = static_cast<double>(goal.leaders);
  FoundThreshold found;
  double slope = 0;
  {
    const Forecast first(data, metric, goal, kFirstRows, step, context, fetch);
    found.threshold = first_threshold(first, wanted, context);
    found.leaders = first.num_leaders(found.threshold);
    constexpr double kAside = 1.1;
    slope = std::log(sum(found.leaders) / sum(first.num_leaders(kAside * found.threshold))) /
            std::log(kAside);
  }
  const Index rows =
      goal.leaders < at_hand / kRowsPerLeader ? kRowsPerLeader * goal.leaders : at_hand;
  if (rows <= kFirstRows || context.must_stop() != StopReason::converged) return found;
  const Forecast second(data, metric, goal, rows, step + 6, context, fetch);
  const FoundThreshold better = corrected(found.threshold, slope, second, wanted, context);
  return better.leaders.empty() ? found : better;
}

Index wanted_leaders(Index rows, Index classes, const LeaderOptions& options) {
  if (options.leaders) return *options.leaders;
  const Index least = kLeastOfAClass * classes;
  return std::clamp(rows / 10, std::min(rows, least), std::max(kMostLeaders, least));
}

Index threshold_sample_rows(const LeaderOptions& options) {
  const Index leaders = options.leaders.value_or(kMostLeaders);
  constexpr Index kMost = std::numeric_limits<Index>::max() / kRowsPerLeader;
  return std::max(kFirstRows, kRowsPerLeader * std::min(leaders, kMost));
}

}  // namespace tamis

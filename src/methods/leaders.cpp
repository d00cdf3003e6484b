#include "methods/leaders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "methods/sifting.hpp"
#include "neighbors/distances.hpp"
#include "neighbors/separated_rows.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kMostLeaders = 20'000;  // unless asked for
constexpr int kMostTrials = 24;
constexpr double kCloseEnough = 0.03;  // relative, of the number estimated

std::vector<Index> positions(Index count) {
  std::vector<Index> result(usize(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

Index wanted_leaders(Index rows, Index classes, const LeaderOptions& options) {
  if (options.leaders > 0) return options.leaders;
  const Index least = kLeastOfAClass * classes;
  return std::clamp(rows / 10, std::min(rows, least), std::max(kMostLeaders, least));
}

// Leaders of the points of an index in their order, as positions; those found so far when it must
// stop.
std::vector<Index> leaders_of(const NeighborIndex& index, double threshold,
                              const TrainContext& context) {
  const std::vector<Index> order = positions(index.num_points());
  Sieve sieve(index, order, index.space().internal_limit(threshold * threshold), context.control);
  std::vector<Index> leaders;
  while (context.must_stop() == StopReason::converged) {
    const std::vector<Index> taken = sieve.take();
    if (taken.empty()) break;
    leaders.insert(leaders.end(), taken.begin(), taken.end());
  }
  return leaders;
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

// How many times as many leaders n rows have as the last of three samples, given their rows and
// leaders. The exponent, d log leaders / d log rows, falls as the data fill up: it is taken to go
// on as a straight line of log rows, down to 0.
double growth_beyond(const std::array<double, 3>& rows, const std::array<double, 3>& leaders,
                     double n) {
  const auto exponent = [&](std::size_t i) {
    return std::log(leaders[i + 1] / leaders[i]) / std::log(rows[i + 1] / rows[i]);
  };
  const double before = exponent(0);
  const double last = exponent(1);
  const double slope = std::min(0.0, 2 * (last - before) / std::log(rows[2] / rows[0]));
  const double at_end = std::clamp(last + slope * std::log(rows[2] / rows[1]) / 2, 0.0, 1.0);
  double reach = std::log(n / rows[2]);
  if (slope < 0) reach = std::min(reach, at_end / -slope);
  return std::exp(reach * (at_end + slope * reach / 2));
}

}  // namespace

Metric leader_metric(const TrainingSet& data, const TrainOptions& options) {
  Kernel kernel = data.kernel;
  if (kernel.type == KernelType::rbf) {
    kernel.gamma =
        options.leader.gamma > 0
            ? options.leader.gamma
            : kernel.gamma / static_cast<double>(std::max<Index>(1, data.features.cols()));
  }
  return {kernel};
}

std::vector<std::vector<Index>> leader_order(const TrainingSet& data, const TrainContext& context) {
  std::vector<Index> rows = all_rows(data);
  sift_random(context, 0).shuffle(rows);
  return rows_by_class(data, rows);
}

std::vector<Index> find_leaders(const TrainingSet& data, const Metric& metric,
                                std::span<const Index> order, double threshold,
                                const TrainContext& context) {
  std::vector<Index> leaders;
  if (order.empty()) return leaders;
  try {
    const auto index = make_neighbor_index(data.features.select(order), metric,
                                           Structure::automatic, context.control);
    leaders = leaders_of(*index, threshold, context);
  } catch (const Cancelled&) {
  }
  if (leaders.empty()) leaders.push_back(0);
  for (Index& leader : leaders) leader = order[usize(leader)];
  return leaders;
}

std::vector<Index> find_more_leaders(const TrainingSet& data, const Metric& metric,
                                     std::span<const Index> order, std::span<const Index> leaders,
                                     std::span<const Index> around, double old_threshold,
                                     double threshold, const TrainContext& context) {
  const auto near_some = make_neighbor_index(data.features.select(around), metric,
                                             Structure::automatic, context.control);
  const std::vector<std::uint8_t> is_near =
      near_some->any_within(data.features, order, old_threshold * old_threshold, context.control);
  // The leaders come first, so that they are taken, or stand for a leader before them.
  std::vector<Index> rows(leaders.begin(), leaders.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (is_near[i] != 0) rows.push_back(order[i]);
  }
  return find_leaders(data, metric, rows, threshold, context);
}

std::vector<double> cluster_costs(const TrainingSet& data, const Metric& metric,
                                  std::span<const Index> rows, std::span<const Index> leaders,
                                  const TrainContext& context) {
  const auto index = make_neighbor_index(data.features.select(leaders), metric,
                                         Structure::automatic, context.control, 1);
  const Neighbors nearest = index->nearest(data.features, rows, 1, context.control);
  std::vector<double> costs(leaders.size(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    costs[usize(nearest.rows[i])] += data.cost[usize(rows[i])];
  return costs;
}

std::vector<double> leader_thresholds(const TrainingSet& data, const Metric& metric, Index total,
                                      const TrainContext& context) {
  const LeaderOptions& options = context.options.leader;
  std::vector<double> thresholds(usize(data.num_classes), options.threshold);
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
  const double n = static_cast<double>(total);
  double share =
      std::min(1.0, static_cast<double>(kThresholdRows) / static_cast<double>(data.rows()));
  std::vector<Sample> samples;  // each a quarter of the one before
  std::vector<Index> rows = all_rows(data);
  for (std::uint64_t i = 0; i < 3; ++i) {
    rows = draw_rows(data, rows, share, 1, sift_random(context, 1 + i));
    samples.emplace_back(data, metric, rows, sift_random(context, 4 + i), context);
    share = 0.25;
  }
  const auto estimate = [&](double threshold) {
    const double count = samples[0].num_leaders(threshold);
    if (samples[0].rows() == n) return count;
    return count *
           growth_beyond(
               {samples[2].rows(), samples[1].rows(), samples[0].rows()},
               {samples[2].num_leaders(threshold), samples[1].num_leaders(threshold), count}, n);
  };
  double high = samples[0].largest_threshold();
  double low = 1e-6 * high;
  double threshold = low;
  for (int trial = 0; trial < kMostTrials && low < high; ++trial) {
    if (context.must_stop() != StopReason::converged) break;
    threshold = std::sqrt(low * high);
    const double count = estimate(threshold) / static_cast<double>(wanted);
    if (std::abs(count - 1) < kCloseEnough) break;
    (count > 1 ? low : high) = threshold;
  }
  return threshold;
}

}  // namespace tamis

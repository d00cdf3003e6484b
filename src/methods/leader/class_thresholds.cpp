#include "methods/leader/class_thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "methods/leader/leader_threshold.hpp"
#include "methods/sifting/sifting.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// A class may have this many times its share of the leaders, or one part in as many. One threshold
// for all classes resolves them alike where they meet, which is worth more than equal shares (1
// here): cod-rna 3.8 % of errors against 5.9 %, phoneme 17.6 % against 21.1 %. Unlimited, `ring`
// had 3 leaders of one class and 579 of the other.
constexpr double kMostTimesItsShare = 2;
constexpr double kTolerance = 1.05;    // in numbers of leaders: the search is no more exact
constexpr Index kLeastOfASample = 64;  // rows of a class in a sample that tell about all its rows

std::vector<double> given_thresholds(const TrainingSet& data, const LeaderOptions& options) {
  std::vector<double> thresholds(usize(data.num_classes), options.threshold.value_or(0));
  for (const auto& [label, threshold] : options.class_thresholds) {
    const Index c = find_class(data.classes, label);
    if (c < 0) {
      throw InvalidArgument(
          fmt::format("threshold names class {}, which the data does not have", label));
    }
    thresholds[usize(c)] = threshold;
  }
  if (std::count(thresholds.begin(), thresholds.end(), 0.0) > 0)
    throw InvalidArgument("threshold names some of the classes: give a number for the others too");
  return thresholds;
}

struct Bounds {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
};

// First one threshold for all classes together; then those that it gives too few or too many
// leaders are set apart.
class ThresholdSearch {
 public:
  ThresholdSearch(const TrainingSet& data, const Metric& metric, std::span<const Index> class_rows,
                  const TrainContext& context, const FetchRows& fetch)
      : data_(data),
        metric_(metric),
        context_(context),
        fetch_(fetch),
        class_rows_(class_rows),
        rows_(rows_by_class(data, all_rows(data))),
        total_(std::accumulate(class_rows.begin(), class_rows.end(), Index{0})),
        wanted_(wanted_leaders(total_, data.num_classes, context.options.leader)) {}

  std::vector<double> run() {
    std::vector<std::size_t> together(class_rows_.size());
    std::iota(together.begin(), together.end(), std::size_t{0});
    const FoundThreshold all = search(together, static_cast<double>(wanted_));
    std::vector<double> thresholds(class_rows_.size(), all.threshold);
    if (context_.must_stop() != StopReason::converged) return thresholds;

    const double scale = common_scale(all.leaders);
    const auto first_out = std::stable_partition(
        together.begin(), together.end(),
        [&](std::size_t c) { return is_within_bounds(c, scale * all.leaders[c]); });
    const std::vector<std::size_t> apart(first_out, together.end());
    together.erase(first_out, together.end());
    double left = static_cast<double>(wanted_);
    for (const std::size_t c : apart) {
      const FoundThreshold own = search({c}, clamped(c, scale * all.leaders[c]));
      thresholds[c] = own.threshold;
      left -= own.leaders[c];  // many copies: fewer than it was to have
    }
    if (apart.empty() || !any_at_hand(together)) return thresholds;
    Bounds limits{0, 0};
    for (const std::size_t c : together) {
      limits.least += bounds(c).least;
      limits.most += bounds(c).most;
    }
    const double common = search(together, std::clamp(left, limits.least, limits.most)).threshold;
    for (const std::size_t c : together) thresholds[c] = common;
    return thresholds;
  }

 private:
  Bounds bounds(std::size_t c) const {
    const auto at_hand = static_cast<Index>(rows_[c].size());
    if (at_hand < std::min(kLeastOfASample, class_rows_[c])) return {};
    const auto classes = static_cast<Index>(class_rows_.size());
    const auto rows = static_cast<double>(class_rows_[c]);
    const double share = rows * static_cast<double>(wanted_) / static_cast<double>(total_);
    const auto few = static_cast<double>(std::min(kLeastOfAClass, wanted_ / (2 * classes)));
    const double least = std::min(rows, std::max(few, share / kMostTimesItsShare));
    return {least, std::max(least, kMostTimesItsShare * share)};
  }

  double clamped(std::size_t c, double leaders) const {
    const Bounds limits = bounds(c);
    return std::clamp(leaders, limits.least, limits.most);
  }

  bool is_within_bounds(std::size_t c, double leaders) const {
    const Bounds limits = bounds(c);
    return leaders * kTolerance >= limits.least && leaders <= kTolerance * limits.most;
  }

  bool any_at_hand(const std::vector<std::size_t>& classes) const {
    return std::any_of(classes.begin(), classes.end(), [&](auto c) { return !rows_[c].empty(); });
  }

  // By which all numbers of leaders are multiplied, so that they add up to the wanted number once
  // each is within its bounds. By bisection.
  double common_scale(const std::vector<double>& leaders) const {
    double low = 1e-3;
    double high = 1e3;
    for (int trial = 0; trial < 40; ++trial) {
      const double scale = std::sqrt(low * high);
      double sum = 0;
      for (std::size_t c = 0; c < leaders.size(); ++c) {
        if (leaders[c] > 0) sum += clamped(c, scale * leaders[c]);
      }
      (sum < static_cast<double>(wanted_) ? low : high) = scale;
    }
    return std::sqrt(low * high);
  }

  FoundThreshold search(const std::vector<std::size_t>& classes, double wanted) {
    constexpr std::uint64_t kSteps = 12;  // of one search
    std::vector<Index> rows;
    Index total = 0;
    for (const std::size_t c : classes) {
      rows.insert(rows.end(), rows_[c].begin(), rows_[c].end());
      total += class_rows_[c];
    }
    const auto leaders = std::max<Index>(1, static_cast<Index>(std::round(wanted)));
    const std::uint64_t first = 1 + kSteps * searches_++;
    return find_threshold(data_, metric_, {rows, total, leaders}, first, context_, fetch_);
  }

  const TrainingSet& data_;
  const Metric& metric_;
  const TrainContext& context_;
  const FetchRows& fetch_;
  std::span<const Index> class_rows_;
  std::vector<std::vector<Index>> rows_;  // at hand
  Index total_;
  Index wanted_;
  std::uint64_t searches_ = 0;
};

}  // namespace

std::vector<double> leader_thresholds(const TrainingSet& data, const Metric& metric,
                                      std::span<const Index> class_rows,
                                      const TrainContext& context, const FetchRows& fetch) {
  const LeaderOptions& options = context.options.leader;
  if (options.threshold || !options.class_thresholds.empty())
    return given_thresholds(data, options);
  return ThresholdSearch(data, metric, class_rows, context, fetch).run();
}

}  // namespace tamis

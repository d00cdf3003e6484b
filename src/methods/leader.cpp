#include "methods/leader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/checked.hpp"
#include "methods/leaders.hpp"
#include "methods/sifting.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kMostLeaders = 20'000;

Index wanted_leaders(const TrainingSet& data, const LeaderOptions& options) {
  if (options.leaders > 0) return options.leaders;
  return std::clamp(data.rows() / 10, std::min(data.rows(), kLeastOfAClass * data.num_classes),
                    std::max(kMostLeaders, kLeastOfAClass * data.num_classes));
}

// T of each class.
std::vector<double> thresholds_of(const TrainingSet& data, const Metric& metric,
                                  const TrainContext& context) {
  const LeaderOptions& options = context.options.leader;
  std::vector<double> thresholds(usize(data.num_classes), options.threshold);
  std::size_t named = 0;
  for (const auto& [label, threshold] : options.class_thresholds) {
    const Index c = find_class(data.classes, label);
    if (c < 0) {
      throw InvalidArgument(
          fmt::format("threshold names class {}, which the data does not have", label));
    }
    thresholds[usize(c)] = threshold;
    ++named;
  }
  if (options.threshold == 0 && named < thresholds.size()) {
    if (named > 0) {
      throw InvalidArgument(
          "threshold names some of the classes: give a number for the others too");
    }
    std::fill(thresholds.begin(), thresholds.end(),
              find_threshold(data, metric, wanted_leaders(data, options), context));
  }
  return thresholds;
}

std::vector<Index> joined(const std::vector<std::vector<Index>>& classes) {
  std::vector<Index> rows;
  for (const std::vector<Index>& of_class : classes)
    rows.insert(rows.end(), of_class.begin(), of_class.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Those of `rows` that are in `sorted`.
std::vector<Index> among(const std::vector<Index>& rows, const std::vector<Index>& sorted) {
  std::vector<Index> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [&](Index row) { return std::binary_search(sorted.begin(), sorted.end(), row); });
  return result;
}

}  // namespace

MethodResult train_leader(const TrainingSet& data, const TrainContext& context) {
  const LeaderOptions& options = context.options.leader;
  const Metric metric = leader_metric(data, context.options);
  Stopwatch watch;
  const std::vector<std::vector<Index>> order = leader_order(data, context);
  std::vector<double> thresholds(order.size(), 0.0);
  try {
    thresholds = thresholds_of(data, metric, context);
  } catch (const Cancelled&) {  // then the leader pass ends at its first row
  }
  const double threshold_seconds = watch.restart();
  std::vector<std::vector<Index>> leaders;
  ReportTable table{"leaders", {"rows", "leaders", "threshold"}, {}};
  for (std::size_t c = 0; c < order.size(); ++c) {
    leaders.push_back(find_leaders(data, metric, order[c], thresholds[c], context));
    table.rows.push_back({static_cast<double>(order[c].size()),
                          static_cast<double>(leaders[c].size()), thresholds[c]});
  }
  const double leader_seconds = watch.seconds();

  TrainingSet weighted = data;
  const auto set_costs = [&] {
    if (options.weights == LeaderWeights::none) return;
    for (std::size_t c = 0; c < order.size(); ++c) {
      const std::vector<double> costs = cluster_costs(data, metric, order[c], leaders[c], context);
      for (std::size_t i = 0; i < costs.size(); ++i) weighted.cost[usize(leaders[c][i])] = costs[i];
    }
  };
  try {
    set_costs();
  } catch (const Cancelled&) {  // the machine is not going to be trained either
  }
  Index refined = 0;
  const auto next = [&](const KernelMachine& latest) {
    if (refined++ == options.refine) return std::vector<Index>();
    const std::vector<Index> support = latest.support_rows();
    for (std::size_t c = 0; c < order.size(); ++c) {
      const std::vector<Index> around = among(leaders[c], support);
      if (around.empty()) continue;
      leaders[c] = find_more_leaders(data, metric, order[c], leaders[c], around, thresholds[c],
                                     thresholds[c] / 2, context);
      thresholds[c] /= 2;
    }
    set_costs();
    return joined(leaders);
  };
  MethodResult result = sift(weighted, context, {}, joined(leaders), next);
  TrainReport& report = result.report;
  report.phase_seconds.insert(report.phase_seconds.begin(),
                              {{"threshold", threshold_seconds}, {"leaders", leader_seconds}});
  report.tables.push_back(std::move(table));
  return result;
}

}  // namespace tamis

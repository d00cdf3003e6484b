#include "methods/leader/leader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "kernels/kernel_value.hpp"
#include "methods/leader/class_thresholds.hpp"
#include "methods/leader/leader_pass.hpp"
#include "methods/leader/leader_spread.hpp"
#include "methods/sifting/sifting.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

std::vector<Index> joined(const std::vector<std::vector<Index>>& classes) {
  std::vector<Index> rows;
  for (const std::vector<Index>& of_class : classes)
    rows.insert(rows.end(), of_class.begin(), of_class.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Index> sizes_of(const std::vector<std::vector<Index>>& classes) {
  std::vector<Index> sizes;
  sizes.reserve(classes.size());
  for (const std::vector<Index>& of_class : classes)
    sizes.push_back(static_cast<Index>(of_class.size()));
  return sizes;
}

// Those of `rows` that are in `sorted`.
std::vector<Index> among(const std::vector<Index>& rows, const std::vector<Index>& sorted) {
  std::vector<Index> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [&](Index row) { return std::binary_search(sorted.begin(), sorted.end(), row); });
  return result;
}

// Support vectors that the others would put on the wrong side, or nearly so: without its own term
// alpha K(x, x), a row on the margin, y f(x) = 1, falls to y f(x) <= 0 where alpha K(x, x) >= 1.
// Those at the upper limit are on the wrong side of the margin already. Ascending.
std::vector<Index> boundary_rows(const TrainingSet& data, const KernelMachine& machine) {
  std::vector<Index> rows;
  for (const TrainedMachine& one : machine.machines) {
    const std::vector<double> diagonal = kernel_diagonal(data.kernel, data.features, one.rows);
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      const double alpha = std::abs(one.coefficients[i]);
      if (alpha * diagonal[i] >= 1 || alpha >= data.cost[usize(one.rows[i])])
        rows.push_back(one.rows[i]);
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// What the passes found, in front of what the training says.
void add_to_report(const std::vector<std::vector<Index>>& order,
                   const std::vector<std::vector<Index>>& leaders,
                   const std::vector<double>& thresholds, double threshold_seconds,
                   double leader_seconds, TrainReport* report) {
  report->phase_seconds.insert(report->phase_seconds.begin(),
                               {{"threshold", threshold_seconds}, {"leaders", leader_seconds}});
  ReportTable& table =
      report->tables.emplace_back(ReportTable{"leaders", {"rows", "leaders", "threshold"}, {}});
  for (std::size_t c = 0; c < order.size(); ++c) {
    table.rows.push_back({static_cast<double>(order[c].size()),
                          static_cast<double>(leaders[c].size()), thresholds[c]});
  }
}

// Of the leaders `rows`, those of all classes, of which `part` consists.
void set_costs(LeaderWeights weights, LeaderSpread& spread,
               const std::vector<std::vector<Index>>& order,
               const std::vector<std::vector<Index>>& leaders, const std::vector<Index>& rows,
               TrainingSet* part) {
  if (weights == LeaderWeights::none) return;
  for (std::size_t c = 0; c < order.size(); ++c) {
    const std::vector<double> costs =
        spread.cluster_costs(static_cast<Index>(c), order[c], leaders[c]);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const auto place = std::lower_bound(rows.begin(), rows.end(), leaders[c][i]);
      part->cost[usize(place - rows.begin())] = costs[i];
    }
  }
}

// On the first rank of several: only leaders, and samples for the threshold, come here.
MethodResult train_spread(const AllRows& all, LeaderSpread& spread, const Metric& metric,
                          const TrainContext& context) {
  const TrainingSet& data = all.facts();
  Stopwatch watch;
  const std::vector<std::vector<Index>> order = leader_order(data, context);
  std::vector<double> thresholds(order.size(), 0.0);
  try {
    thresholds = leader_thresholds(data, metric, sizes_of(order), context,
                                   [&](std::span<const Index> rows) { return all.features(rows); });
  } catch (const Cancelled&) {  // then the leader pass ends at its first row
  }
  const double threshold_seconds = watch.restart();
  std::vector<std::vector<Index>> leaders;
  for (std::size_t c = 0; c < order.size(); ++c)
    leaders.push_back(spread.find_leaders(static_cast<Index>(c), order[c], thresholds[c]));
  const double leader_seconds = watch.seconds();
  const std::vector<Index> rows = joined(leaders);
  TrainingSet part = all.select(rows);
  try {
    set_costs(context.options.leader.weights, spread, order, leaders, rows, &part);
  } catch (const Cancelled&) {  // the report says so
  }
  MethodResult result = sift(part, context, {}, all_rows(part),
                             [](const KernelMachine&) { return std::vector<Index>(); });
  for (Index& row : result.report.support_rows) row = rows[usize(row)];
  add_to_report(order, leaders, thresholds, threshold_seconds, leader_seconds, &result.report);
  return result;
}

MethodResult train_together(const TrainingSet& data, const TrainContext& context) {
  if (context.options.leader.refine > 0)
    throw InvalidArgument("refine does not run on several processes");
  const LocalContext local(context);
  Coordinator coordinator(group_of(context.control));
  const AllRows all(data, coordinator);
  const Metric metric = leader_metric(data, context.options);
  LeaderSpread spread(all, metric, local.context());
  MethodResult result;
  coordinator.run([&] { result = train_spread(all, spread, metric, local.context()); });
  result.report.stop_reason = std::max(result.report.stop_reason, coordinator.stopped());
  return result;
}

MethodResult train_alone(const TrainingSet& data, const TrainContext& context) {
  const LeaderOptions& options = context.options.leader;
  const Metric metric = leader_metric(data, context.options);
  Stopwatch watch;
  const std::vector<std::vector<Index>> order = leader_order(data, context);
  std::vector<double> thresholds(order.size(), 0.0);
  try {
    thresholds = leader_thresholds(data, metric, sizes_of(order), context);
  } catch (const Cancelled&) {  // then the leader pass ends at its first row
  }
  const double threshold_seconds = watch.restart();
  std::vector<std::vector<Index>> leaders;
  for (std::size_t c = 0; c < order.size(); ++c)
    leaders.push_back(find_leaders(data, metric, order[c], thresholds[c], context));
  const double leader_seconds = watch.seconds();
  const std::vector<double> first_thresholds = thresholds;

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
    const std::vector<Index> boundary = boundary_rows(weighted, latest);
    for (std::size_t c = 0; c < order.size(); ++c) {
      const std::vector<Index> around = among(leaders[c], boundary);
      if (around.empty()) continue;
      leaders[c] = find_more_leaders(data, metric, order[c], leaders[c], around, thresholds[c],
                                     thresholds[c] / 2, context);
      thresholds[c] /= 2;
    }
    set_costs();
    return joined(leaders);
  };
  MethodResult result = sift(weighted, context, {}, joined(leaders), next);
  add_to_report(order, leaders, first_thresholds, threshold_seconds, leader_seconds,
                &result.report);
  return result;
}

}  // namespace

MethodResult train_leader(const TrainingSet& data, const TrainContext& context) {
  if (group_of(context.control).size() > 1) return train_together(data, context);
  try {
    return train_alone(data, context);
  } catch (const ResourceError& error) {
    throw ResourceError(fmt::format(
        "{}; or train in passes over a file (stream), which keeps the leaders alone in memory",
        error.what()));
  }
}

Method leader_method() {
  return {.info = {.name = "leader",
                   .summary = "one model on leaders: rows that stand for all rows close to them",
                   .kind = MethodKind::part_of_rows,
                   .does_regression = false,
                   .trains_together = true,
                   .options = {"multiclass", "threshold", "leaders", "leader-gamma",
                               "leader-weights", "refine"}},
          .train = train_leader};
}

}  // namespace tamis

#include "methods/leader/leader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "data/copy_rows.hpp"
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

// The leaders of each class that have one of another class within the threshold. Numbers are those
// of `data`.
std::vector<std::vector<Index>> near_other_leaders(const TrainingSet& data, const Metric& metric,
                                                   const std::vector<std::vector<Index>>& leaders,
                                                   const std::vector<double>& thresholds,
                                                   const RunControl& control) {
  std::vector<std::vector<Index>> near(leaders.size());
  for (std::size_t c = 0; c < leaders.size(); ++c) {
    std::vector<Index> others;
    for (std::size_t other = 0; other < leaders.size(); ++other) {
      if (other != c) others.insert(others.end(), leaders[other].begin(), leaders[other].end());
    }
    if (others.empty() || leaders[c].empty()) continue;
    const auto index =
        make_neighbor_index(copy_rows(data.features, others, "refining leaders", control), metric,
                            Structure::automatic, control);
    const std::vector<std::uint8_t> is_near =
        index->any_within(data.features, leaders[c], thresholds[c] * thresholds[c], control);
    for (std::size_t i = 0; i < leaders[c].size(); ++i) {
      if (is_near[i] != 0) near[c].push_back(leaders[c][i]);
    }
  }
  return near;
}

// The leaders of each class around which the threshold is halved. `data` has all leaders, and those
// that the latest SVMs were trained on.
std::vector<std::vector<Index>> leaders_at_boundary(const TrainingSet& data, const Metric& metric,
                                                    const std::vector<std::vector<Index>>& leaders,
                                                    const std::vector<double>& thresholds,
                                                    const KernelMachine& latest,
                                                    const TrainContext& context) {
  if (context.options.leader.boundary == LeaderBoundary::leaders)
    return near_other_leaders(data, metric, leaders, thresholds, context.control);
  const std::vector<Index> boundary = boundary_rows(data, latest);
  std::vector<std::vector<Index>> near;
  near.reserve(leaders.size());
  for (const std::vector<Index>& of_class : leaders) near.push_back(among(of_class, boundary));
  return near;
}

// One round of training, and one each time that leaders are refined.
TrainOptions options_for_rounds(TrainOptions options) {
  options.sift.max_rounds = 1 + options.leader.refine_or_default();
  return options;
}

Index place_in(const std::vector<Index>& sorted, Index row) {
  return std::lower_bound(sorted.begin(), sorted.end(), row) - sorted.begin();
}

// What the passes found, in front of what the training says. Leaders of a refinement that was cut
// short do not count: the model is not trained on them.
void add_to_report(const TrainingSet& data, const std::vector<std::vector<Index>>& order,
                   const std::vector<double>& thresholds, double threshold_seconds,
                   double leader_seconds, TrainReport* report) {
  std::vector<Index> leaders(order.size(), 0);
  for (const Index row : report->chosen_rows) ++leaders[usize(data.codes[usize(row)])];
  report->phase_seconds.insert(report->phase_seconds.begin(),
                               {{"threshold", threshold_seconds}, {"leaders", leader_seconds}});
  ReportTable& table =
      report->tables.emplace_back(ReportTable{"leaders", {"rows", "leaders", "threshold"}, {}});
  for (std::size_t c = 0; c < order.size(); ++c) {
    table.rows.push_back(
        {static_cast<double>(order[c].size()), static_cast<double>(leaders[c]), thresholds[c]});
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
      part->cost[usize(place_in(rows, leaders[c][i]))] = costs[i];
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
  const std::vector<double> first_thresholds = thresholds;
  std::vector<Index> rows = joined(leaders);
  std::vector<std::vector<Index>> trained_rows = {rows};  // of each round
  TrainingSet part = all.select(rows);
  try {
    set_costs(context.options.leader.weights, spread, order, leaders, rows, &part);
  } catch (const Cancelled&) {  // the report says so
  }
  const TrainOptions rounds = options_for_rounds(context.options);
  const auto next = [&](KernelMachine& latest) {
    std::vector<std::vector<Index>> places = leaders;
    for (std::vector<Index>& of_class : places) {
      for (Index& row : of_class) row = place_in(rows, row);
    }
    const std::vector<std::vector<Index>> around =
        leaders_at_boundary(part, metric, places, thresholds, latest, context);
    std::vector<std::vector<Index>> more = leaders;
    for (std::size_t c = 0; c < order.size(); ++c) {
      if (around[c].empty()) continue;
      std::vector<Index> centers;
      for (const Index place : around[c]) centers.push_back(rows[usize(place)]);
      more[c] = spread.find_more_leaders(static_cast<Index>(c), order[c], leaders[c], centers,
                                         thresholds[c], thresholds[c] / 2);
      thresholds[c] /= 2;
    }
    if (!spread.may_go_on()) return std::vector<Index>();  // some of these passes were cut short
    std::vector<Index> grown = joined(more);
    TrainingSet grown_part = all.select(grown);
    set_costs(context.options.leader.weights, spread, order, more, grown, &grown_part);
    for (TrainedMachine& machine : latest.machines) {
      for (Index& row : machine.rows) row = place_in(grown, rows[usize(row)]);
    }
    leaders = std::move(more);
    rows = std::move(grown);
    trained_rows.push_back(rows);
    part = std::move(grown_part);
    return all_rows(part);
  };
  MethodResult result =
      sift(part, {rounds, context.control, context.watch, context.start}, {}, all_rows(part), next);
  for (Index& row : result.report.support_rows) row = rows[usize(row)];
  result.report.chosen_rows =
      trained_rows[usize(static_cast<Index>(report_detail(result.report, "best_round")) - 1)];
  add_to_report(data, order, first_thresholds, threshold_seconds, leader_seconds, &result.report);
  return result;
}

MethodResult train_together(const TrainingSet& data, const TrainContext& context) {
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
  const auto set_costs = [&](const std::vector<std::vector<Index>>& classes) {
    if (options.weights == LeaderWeights::none) return;
    for (std::size_t c = 0; c < order.size(); ++c) {
      const std::vector<double> costs = cluster_costs(data, metric, order[c], classes[c], context);
      for (std::size_t i = 0; i < costs.size(); ++i) weighted.cost[usize(classes[c][i])] = costs[i];
    }
  };
  try {
    set_costs(leaders);
  } catch (const Cancelled&) {  // the machine is not going to be trained either
  }
  const TrainOptions rounds = options_for_rounds(context.options);
  const auto refine = [&](const KernelMachine& latest) {
    const std::vector<std::vector<Index>> around =
        leaders_at_boundary(weighted, metric, leaders, thresholds, latest, context);
    std::vector<std::vector<Index>> more = leaders;
    for (std::size_t c = 0; c < order.size(); ++c) {
      if (around[c].empty()) continue;
      more[c] = find_more_leaders(data, metric, order[c], leaders[c], around[c], thresholds[c],
                                  thresholds[c] / 2, context);
      thresholds[c] /= 2;
    }
    // Some of these passes were cut short.
    if (context.must_stop() != StopReason::converged) return std::vector<Index>();
    set_costs(more);
    leaders = std::move(more);
    return joined(leaders);
  };
  std::string warning;
  const auto next = [&](const KernelMachine& latest) {
    try {
      return refine(latest);
    } catch (const ResourceError& error) {
      if (options.refine) throw;  // that was asked for
      warning = fmt::format("the leaders were not refined: {}", error.what());
      return std::vector<Index>();
    }
  };
  MethodResult result = sift(weighted, {rounds, context.control, context.watch, context.start}, {},
                             joined(leaders), next);
  add_to_report(data, order, first_thresholds, threshold_seconds, leader_seconds, &result.report);
  if (!warning.empty()) result.report.warnings.push_back(std::move(warning));
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
                               "leader-weights", "refine", "boundary"}},
          .train = train_leader};
}

}  // namespace tamis

#include "methods/leader/leader_pass.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_set>

#include "base/checked.hpp"
#include "data/copy_rows.hpp"
#include "methods/sifting/sifting.hpp"
#include "neighbors/distances.hpp"
#include "neighbors/separated_rows.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

std::vector<Index> positions(Index count) {
  std::vector<Index> result(usize(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

}  // namespace

Metric leader_metric(const TrainingSet& data, const TrainOptions& options) {
  Kernel kernel = data.kernel;
  if (kernel.type == KernelType::rbf || kernel.type == KernelType::laplacian) {
    kernel.gamma = options.leader.gamma.value_or(
        kernel.gamma / static_cast<double>(std::max<Index>(1, data.features.cols())));
  }
  return {kernel};
}

std::vector<std::vector<Index>> leader_order(const TrainingSet& data, const TrainContext& context) {
  std::vector<Index> rows = all_rows(data);
  sift_random(context, 0).shuffle(rows);
  return rows_by_class(data, rows);
}

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

std::vector<Index> find_leaders(const TrainingSet& data, const Metric& metric,
                                std::span<const Index> order, double threshold,
                                const TrainContext& context) {
  std::vector<Index> leaders;
  if (order.empty()) return leaders;
  if (context.must_stop() != StopReason::converged) return {order[0]};  // before rows are copied
  try {
    const auto index =
        make_neighbor_index(copy_rows(data.features, order, "ordering the rows", context.control),
                            metric, Structure::automatic, context.control);
    leaders = leaders_of(*index, threshold, context);
  } catch (const Cancelled&) {
  }
  if (leaders.empty()) leaders.push_back(0);
  for (Index& leader : leaders) leader = order[usize(leader)];
  return leaders;
}

std::vector<Index> leaders_first(std::span<const Index> leaders, std::span<const Index> others) {
  std::vector<Index> rows(leaders.begin(), leaders.end());
  const std::unordered_set<Index> known(leaders.begin(), leaders.end());
  std::copy_if(others.begin(), others.end(), std::back_inserter(rows),
               [&](Index row) { return !known.contains(row); });
  return rows;
}

std::vector<Index> find_more_leaders(const TrainingSet& data, const Metric& metric,
                                     std::span<const Index> order, std::span<const Index> leaders,
                                     std::span<const Index> around, double old_threshold,
                                     double threshold, const TrainContext& context) {
  std::vector<Index> near;
  {
    const auto near_some =
        make_neighbor_index(copy_rows(data.features, around, "refining leaders", context.control),
                            metric, Structure::automatic, context.control);
    const std::vector<std::uint8_t> is_near =
        near_some->any_within(data.features, order, old_threshold * old_threshold, context.control);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (is_near[i] != 0) near.push_back(order[i]);
    }
  }
  // Among fewer rows, distances may be computed in another way and round differently: then a leader
  // within rounding of the threshold would be lost.
  return leaders_first(
      leaders, find_leaders(data, metric, leaders_first(leaders, near), threshold, context));
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

}  // namespace tamis

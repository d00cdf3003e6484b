// The leader algorithm in feature space: of the rows of a class, in random order, each becomes a
// leader unless one before it lies within a distance T.
#pragma once

#include <span>
#include <vector>

#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// The distance of the leader pass: that of the kernel, RBF with the leader's own gamma.
Metric leader_metric(const TrainingSet& data, const TrainOptions& options);

/// Rows of each class, in the order in which the leader pass goes through them.
std::vector<std::vector<Index>> leader_order(const TrainingSet& data, const TrainContext& context);

/// Leaders of the points of an index in their order, as positions; those found so far when it must
/// stop.
std::vector<Index> leaders_of(const NeighborIndex& index, double threshold,
                              const TrainContext& context);

/// Leaders of rows of one class, in the order given: exactly those of the naive scan. A time limit
/// leaves those found so far, being cancelled the first row, which always is one.
std::vector<Index> find_leaders(const TrainingSet& data, const Metric& metric,
                                std::span<const Index> order, double threshold,
                                const TrainContext& context);

/// The leaders, then those of `others` that are none, in order: what a pass goes over that keeps
/// these leaders.
std::vector<Index> leaders_first(std::span<const Index> leaders, std::span<const Index> others);

/// The leaders, and those that join them when the threshold is lowered to this value around some:
/// of the rows within `old_threshold` of one of `around`, in order, each that is farther than
/// `threshold` from all leaders, old and new.
std::vector<Index> find_more_leaders(const TrainingSet& data, const Metric& metric,
                                     std::span<const Index> order, std::span<const Index> leaders,
                                     std::span<const Index> around, double old_threshold,
                                     double threshold, const TrainContext& context);

/// What the rows of a class cost together that are nearest to each of its leaders.
std::vector<double> cluster_costs(const TrainingSet& data, const Metric& metric,
                                  std::span<const Index> rows, std::span<const Index> leaders,
                                  const TrainContext& context);

}  // namespace tamis

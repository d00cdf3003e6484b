// The leader algorithm in feature space: of the rows of a class, in random order, each becomes a
// leader unless one before it lies within a distance T.
#pragma once

#include <span>
#include <vector>

#include "methods/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// The distance of the leader pass: that of the kernel, RBF with the leader's own gamma.
Metric leader_metric(const TrainingSet& data, const TrainOptions& options);

/// Rows of each class, in the order in which the leader pass goes through them.
std::vector<std::vector<Index>> leader_order(const TrainingSet& data, const TrainContext& context);

/// Leaders of rows of one class, in the order given: exactly those of the naive scan. A time limit
/// leaves those found so far, being cancelled the first row, which always is one.
std::vector<Index> find_leaders(const TrainingSet& data, const Metric& metric,
                                std::span<const Index> order, double threshold,
                                const TrainContext& context);

/// Those that join when the threshold is lowered to this value around some of the leaders: of the
/// rows within `old_threshold` of one of `around`, in order, each that is farther than `threshold`
/// from all leaders, old and new.
std::vector<Index> find_more_leaders(const TrainingSet& data, const Metric& metric,
                                     std::span<const Index> order, std::span<const Index> leaders,
                                     std::span<const Index> around, double old_threshold,
                                     double threshold, const TrainContext& context);

/// What the rows of a class cost together that are nearest to each of its leaders.
std::vector<double> cluster_costs(const TrainingSet& data, const Metric& metric,
                                  std::span<const Index> rows, std::span<const Index> leaders,
                                  const TrainContext& context);

/// T of each class: as the options have it, or one that gives about as many leaders as they want,
/// of `total` rows of which `data` are all or a random part. Throws InvalidArgument for options
/// that do not fit the classes.
std::vector<double> leader_thresholds(const TrainingSet& data, const Metric& metric, Index total,
                                      const TrainContext& context);

/// Rows that a threshold is found on.
inline constexpr Index kThresholdRows = 16'000;

/// A threshold that gives about `wanted` leaders of `total` rows, of which `data` are all or a
/// random part. Their number is extrapolated from those of a sample, a quarter of it and a quarter
/// of that.
double find_threshold(const TrainingSet& data, const Metric& metric, Index wanted, Index total,
                      const TrainContext& context);

}  // namespace tamis

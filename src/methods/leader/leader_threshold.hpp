// Which distance gives the number of leaders that is wanted.
#pragma once

#include <vector>

#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// T of each class: as the options have it, or one that gives about as many leaders as they want,
/// of `total` rows of which `data` are all or a random part. Throws InvalidArgument for options
/// that do not fit the classes.
std::vector<double> leader_thresholds(const TrainingSet& data, const Metric& metric, Index total,
                                      const TrainContext& context);

/// A threshold that gives about `wanted` leaders of `total` rows, of which `data` are all or a
/// random part. It is sought on a small sample, and corrected on a larger one (or on all rows),
/// where the leaders are counted; beyond a sample their number is extrapolated.
double find_threshold(const TrainingSet& data, const Metric& metric, Index wanted, Index total,
                      const TrainContext& context);

/// Rows that the threshold of so many rows is found on, if they are not all at hand.
Index threshold_sample_rows(const LeaderOptions& options);

/// How many times as many leaders n rows have as the largest of three samples, given their rows
/// (each the same multiple of the one before) and leaders: the geometric mean of two laws, of which
/// one tends to say too many and one too few.
double leader_growth(const double (&rows)[3], const double (&leaders)[3], double n);

}  // namespace tamis

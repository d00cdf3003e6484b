// Which distance gives the number of leaders that is wanted, one for all classes asked about.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// About how many leaders are wanted of one or more classes.
struct LeaderGoal {
  std::span<const Index> rows;  ///< at hand: all of these classes, or a random part
  Index total = 0;              ///< rows of these classes
  Index leaders = 0;            ///< of `total` rows
};

struct FoundThreshold {
  double threshold = 0;
  std::vector<double> leaders;  ///< of each class; 0 for one without rows at hand
};

/// The features of rows by their numbers, where the training set does not hold them; empty: it
/// does.
using FetchRows = std::function<Matrix(std::span<const Index> rows)>;

/// A threshold that meets the goal. It is sought on a small sample, and corrected on a larger one
/// (or on all rows), where the leaders are counted; beyond a sample their number is extrapolated.
/// Random draws are numbered from `step` on.
FoundThreshold find_threshold(const TrainingSet& data, const Metric& metric, const LeaderGoal& goal,
                              std::uint64_t step, const TrainContext& context,
                              const FetchRows& fetch = {});

/// The number of leaders that the options ask for, given the number of rows.
Index wanted_leaders(Index rows, Index classes, const LeaderOptions& options);

/// Rows that the threshold is found on, given the number of rows, if they are not all at hand.
Index threshold_sample_rows(const LeaderOptions& options);

/// How many times as many leaders n rows have as the largest of three samples, given their rows
/// (each the same multiple of the one before) and leaders: the geometric mean of two laws, of which
/// one tends to say too many and one too few.
double leader_growth(const double (&rows)[3], const double (&leaders)[3], double n);

}  // namespace tamis

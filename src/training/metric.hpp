// Feature weights learned from the model itself.
#pragma once

#include <string>
#include <vector>

#include "methods/common/method.hpp"

namespace tamis {

struct LearnedMetric {
  /// One per column, not negative; empty: no round was better than equal weights, or a matrix was
  /// asked for.
  std::vector<float> weights;
  /// A full metric (Scaling::matrix); empty: no round was better, or weights were asked for.
  std::vector<float> matrix;
  Index best_round = 0;    ///< 0: without weights
  Index held_rows = 0;     ///< that judged the rounds; 0: too few rows, or no time
  double plain_error = 0;  ///< on these, without weights
  double best_error = 0;
  ReportTable rounds = {"metric_rounds", {"round", "validation_error", "support_vectors"}, {}};
};

/// Trains an exact SVM on a part of the rows, multiplies each column by the root of the mean
/// squared derivative of its decision values along it (src/model/decision_gradients.hpp), and
/// trains again, as many rounds as the options say. Weights are normalized so that the mean squared
/// distance between rows (Laplacian kernel: the sum of the columns' deviations) stays the same, and
/// with it what gamma means. With MetricForm::full, the columns are multiplied by the symmetric
/// root of the whole average gradient outer product, normalized in the same way. What the round
/// with the lowest error on held-out rows had counts. Ends after `seconds` (infinite: no limit), on
/// fewer rows if they are few; it or a caller who cancels leaves the best round so far. Throws
/// InvalidArgument when a full metric is asked for and there are too many columns, and
/// ResourceError when numbers for every column do not fit into the memory budget.
LearnedMetric learn_metric(const TrainingSet& data, const TrainContext& context, double seconds);
/// What a training gives it of the time it has left.
inline constexpr double kMetricShareOfTime = 1.0 / 3;

/// For people: what was learned, and what it is worth.
std::string describe(const LearnedMetric& metric, const TrainOptions& options);

}  // namespace tamis

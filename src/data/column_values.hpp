// The distinct values of a column with their counts, and what scaling learns from their order.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

struct ValueRun {
  float value = 0;
  Index count = 0;
};

/// Calls visit(column, runs) for every column, once, from many threads. The runs ascend and hold
/// every row, zeros that are not stored included. Above 262,144 rows, a random sample of that many,
/// the same for every call. Throws DataError for values that are not finite, ResourceError,
/// Cancelled.
void visit_columns(const Matrix& features, const RunControl& control,
                   const std::function<void(Index, std::span<const ValueRun>)>& visit);

/// The value below which this share of the rows lies, linear between rows.
double quantile(std::span<const ValueRun> runs, double share);
double standard_deviation(std::span<const ValueRun> runs);

/// A function of values that is linear between knots.
struct Knots {
  std::vector<float> values;
  std::vector<float> scores;
};
/// Normal scores: the value at rank r of n gets the quantile (r - 1/2) / n of the normal
/// distribution, equal values that of their mean rank. Every distinct value is a knot, up to
/// Scaling::kMaxKnots; of more, the smallest, the largest, and those whose scores are spread
/// evenly, which keeps the tails as fine as the middle.
Knots normal_scores(std::span<const ValueRun> runs);

/// The p-quantile of the normal distribution, 0 < p < 1.
double normal_quantile(double p);

}  // namespace tamis

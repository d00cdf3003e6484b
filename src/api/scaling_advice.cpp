#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/report.hpp"
#include "tamis/train.hpp"

namespace tamis {

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return "converged";
    case StopReason::precision_limit:
      return "precision limit";
    case StopReason::iteration_limit:
      return "iteration limit";
    case StopReason::time_limit:
      return "time limit";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

std::string scaling_advice(const Matrix& features) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr double kWild = 100;  // ratio of ranges from which the widest columns drown the others
  const std::size_t cols = static_cast<std::size_t>(features.cols());
  std::vector<float> low(cols, kInfinity);
  std::vector<float> high(cols, -kInfinity);
  std::vector<Index> seen(cols, 0);
  const auto take = [&](std::size_t j, float value) {
    low[j] = std::min(low[j], value);
    high[j] = std::max(high[j], value);
    ++seen[j];
  };
  for (Index i = 0; i < features.rows(); ++i) {
    if (features.is_sparse()) {
      const SparseRow row = features.sparse_row(i);
      for (std::size_t k = 0; k < row.columns.size(); ++k)
        take(static_cast<std::size_t>(row.columns[k]), row.values[k]);
    } else {
      const auto row = features.dense_row(i);
      for (std::size_t j = 0; j < cols; ++j) take(j, row[j]);
    }
  }
  std::size_t widest = cols;
  std::size_t narrowest = cols;
  std::vector<double> range(cols, 0);
  for (std::size_t j = 0; j < cols; ++j) {
    if (seen[j] < features.rows()) {  // the zeros that sparse rows leave out
      low[j] = std::min(low[j], 0.0F);
      high[j] = std::max(high[j], 0.0F);
    }
    range[j] = static_cast<double>(high[j]) - static_cast<double>(low[j]);
    if (!(range[j] > 0)) continue;
    if (widest == cols || range[j] > range[widest]) widest = j;
    if (narrowest == cols || range[j] < range[narrowest]) narrowest = j;
  }
  if (widest == cols || range[widest] < kWild * range[narrowest]) return "";
  return fmt::format(
      "columns differ widely in range (column {}: {:.3g}, column {}: {:.3g}): consider --scale "
      "minmax",
      widest + 1, range[widest], narrowest + 1, range[narrowest]);
}

}  // namespace tamis

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/train.hpp"

namespace tamis {

namespace {

// The columns that occur in sparse rows, ascending. A file may name column two billion and little
// else, so work must follow the values stored, not the largest number.
std::vector<std::int32_t> occurring_columns(const Matrix& features) {
  std::vector<std::int32_t> columns(features.sparse_columns().begin(),
                                    features.sparse_columns().end());
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

}  // namespace

std::string scaling_advice(const Matrix& features) {
  constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
  constexpr double kWild = 100;  // ratio of ranges from which the widest columns drown the others
  const bool has_gaps = features.is_sparse() && features.cols() > features.num_stored();
  const std::vector<std::int32_t> occurring =
      has_gaps ? occurring_columns(features) : std::vector<std::int32_t>();
  const auto place = [&](std::int32_t column) {
    if (!has_gaps) return static_cast<std::size_t>(column);
    const auto found = std::lower_bound(occurring.begin(), occurring.end(), column);
    return static_cast<std::size_t>(found - occurring.begin());
  };
  const auto number = [&](std::size_t j) {
    return (has_gaps ? static_cast<std::size_t>(occurring[j]) : j) + 1;
  };
  const std::size_t cols = has_gaps ? occurring.size() : static_cast<std::size_t>(features.cols());
  std::vector<float> low(cols, kFloatInfinity);
  std::vector<float> high(cols, -kFloatInfinity);
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
        take(place(row.columns[k]), row.values[k]);
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
      "columns differ widely in range (column {}: {:.3g}, column {}: {:.3g}): consider scaling "
      "them "
      "(minmax)",
      number(widest), range[widest], number(narrowest), range[narrowest]);
}

}  // namespace tamis

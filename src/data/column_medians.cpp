#include "data/column_medians.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

// The value at this rank of the stored ones (which are reordered) and `zeros` more.
float value_at(std::span<float> values, Index zeros, Index rank) {
  const auto negative = std::partition(values.begin(), values.end(), [](float v) { return v < 0; });
  const auto below = static_cast<Index>(negative - values.begin());
  if (rank >= below && rank < below + zeros) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank < below ? rank : rank - zeros);
  if (rank < below)
    std::nth_element(values.begin(), at, negative);
  else
    std::nth_element(negative, at, values.end());
  return *at;
}

float median(std::span<float> values, Index zeros) {
  const Index count = std::ssize(values) + zeros;
  if (count == 0) return 0;
  const auto upper = static_cast<double>(value_at(values, zeros, count / 2));
  const auto lower =
      count % 2 == 1 ? upper : static_cast<double>(value_at(values, zeros, count / 2 - 1));
  const auto middle = static_cast<float>((lower + upper) / 2);
  return std::isfinite(middle) ? middle : 0.0F;
}

std::vector<float> dense_medians(const Matrix& features, const RunControl& control) {
  require_memory("medians of columns",
                 checked_product(features.rows(), loop_threads() * Index{sizeof(float)}),
                 memory_left(control.memory_bytes));
  std::vector<float> result(usize(features.cols()));
  parallel_each(features.cols(), [&](Index j) {
    if (control.cancelled()) throw Cancelled();
    std::vector<float> values;
    values.reserve(usize(features.rows()));
    for (Index i = 0; i < features.rows(); ++i) {
      const float value = features.dense_row(i)[usize(j)];
      if (!std::isnan(value)) values.push_back(value);
    }
    result[usize(j)] = median(values, 0);
  });
  return result;
}

// All stored values, column after column.
std::vector<float> sparse_medians(const Matrix& features, const RunControl& control) {
  const Index cols = features.cols();
  require_memory("medians of columns",
                 checked_sum(checked_product(features.num_stored(), sizeof(float)),
                             checked_product(cols, 3 * sizeof(Index))),
                 memory_left(control.memory_bytes));
  std::vector<Index> begin(usize(cols) + 1, 0);
  std::vector<Index> zeros(usize(cols), features.rows());
  const auto columns = features.sparse_columns();
  const auto stored = features.sparse_values();
  for (std::size_t k = 0; k < columns.size(); ++k) {
    --zeros[usize(columns[k])];
    if (!std::isnan(stored[k])) ++begin[usize(columns[k]) + 1];
  }
  for (std::size_t j = 0; j < zeros.size(); ++j) begin[j + 1] += begin[j];
  std::vector<float> values(usize(begin.back()));
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!std::isnan(stored[k])) values[usize(next[usize(columns[k])]++)] = stored[k];
  }
  std::vector<float> result(usize(cols));
  parallel_ranges(cols, 1024, [&](Index first, Index last) {
    if (control.cancelled()) throw Cancelled();
    for (Index j = first; j < last; ++j) {
      const auto own = std::span(values).subspan(usize(begin[usize(j)]),
                                                 usize(begin[usize(j) + 1] - begin[usize(j)]));
      result[usize(j)] = median(own, zeros[usize(j)]);
    }
  });
  return result;
}

}  // namespace

std::vector<float> column_medians(const Matrix& features, const RunControl& control) {
  return features.is_sparse() ? sparse_medians(features, control)
                              : dense_medians(features, control);
}

}  // namespace tamis

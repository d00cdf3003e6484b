#include "gram/linear_rows.hpp"

#include "base/checked.hpp"

namespace tamis {

void add_row(const Matrix& data, Index row, double coefficient, std::span<double> w) {
  if (data.is_sparse()) {
    const SparseRow x = data.sparse_row(row);
    for (std::size_t k = 0; k < x.columns.size(); ++k)
      w[usize(x.columns[k])] += coefficient * static_cast<double>(x.values[k]);
    return;
  }
  const auto x = data.dense_row(row);
  for (std::size_t j = 0; j < x.size(); ++j) w[j] += coefficient * static_cast<double>(x[j]);
}

double dot_row(const Matrix& data, Index row, std::span<const double> w) {
  double sum = 0;
  if (data.is_sparse()) {
    const SparseRow x = data.sparse_row(row);
    for (std::size_t k = 0; k < x.columns.size(); ++k)
      sum += w[usize(x.columns[k])] * static_cast<double>(x.values[k]);
    return sum;
  }
  // Four sums side by side, so that the loop is not one long chain of additions.
  const auto x = data.dense_row(row);
  double lanes[4] = {0, 0, 0, 0};
  std::size_t j = 0;
  for (; j + 4 <= x.size(); j += 4) {
    for (std::size_t k = 0; k < 4; ++k) lanes[k] += w[j + k] * static_cast<double>(x[j + k]);
  }
  for (; j < x.size(); ++j) sum += w[j] * static_cast<double>(x[j]);
  return sum + (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

}  // namespace tamis

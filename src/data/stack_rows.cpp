#include "data/stack_rows.hpp"

#include "base/check.hpp"

namespace tamis {
namespace {

Matrix stack_dense(std::span<const Matrix> parts, Index cols) {
  std::vector<float> values;
  Index rows = 0;
  for (const Matrix& part : parts) {
    const Matrix dense = part.is_sparse() ? part.to_dense() : part;
    values.insert(values.end(), dense.dense_values().begin(), dense.dense_values().end());
    rows += part.rows();
  }
  return Matrix::dense(rows, cols, std::move(values));
}

Matrix stack_sparse(std::span<const Matrix> parts, Index cols) {
  std::vector<Index> row_begin{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (const Matrix& part : parts) {
    const Matrix sparse = part.is_sparse() ? part : part.to_sparse();
    for (const Index end : sparse.row_offsets().subspan(1))
      row_begin.push_back(static_cast<Index>(values.size()) + end);
    columns.insert(columns.end(), sparse.sparse_columns().begin(), sparse.sparse_columns().end());
    values.insert(values.end(), sparse.sparse_values().begin(), sparse.sparse_values().end());
  }
  return Matrix::sparse(cols, std::move(row_begin), std::move(columns), std::move(values));
}

}  // namespace

Matrix stack_rows(std::span<const Matrix> parts) {
  if (parts.empty()) return {};
  const Index cols = parts[0].cols();
  for (const Matrix& part : parts) TAMIS_CHECK(part.cols() == cols);
  return parts[0].is_sparse() ? stack_sparse(parts, cols) : stack_dense(parts, cols);
}

}  // namespace tamis

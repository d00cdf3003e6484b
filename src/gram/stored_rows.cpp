#include "gram/stored_rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/page_memory.hpp"
#include "base/parallel.hpp"
#include "kernels/kernel_blocks.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kRowsOfTask = 64;

// Adding whole rows by vector instructions and picking the columns afterwards is this many times as
// fast a column as picking from each row.
constexpr std::size_t kPickCost = 3;

std::vector<Index> picked(std::span<const Index> numbers, std::span<const Index> which) {
  std::vector<Index> result;
  result.reserve(which.size());
  for (const Index k : which) result.push_back(numbers[usize(k)]);
  return result;
}

}  // namespace

StoredMatrix::StoredMatrix(Index rows)
    : rows_(rows),
      stride_(round_up(rows, kPanel)),
      values_(reserve_floats(checked_product(rows, stride_))) {}

Index StoredMatrix::size_bytes(Index rows) {
  return checked_product(checked_product(rows, round_up(rows, kPanel)), sizeof(float));
}

StoredMatrix StoredMatrix::unfinished(KernelType type, const Matrix& features,
                                      const MustStop& must_stop) {
  StoredMatrix matrix(features.rows());
  const KernelBlocks blocks = KernelBlocks::unfinished(type, features);
  parallel_ranges(matrix.rows_, kRowsOfTask, [&](Index begin, Index end) {
    if (must_stop && must_stop()) throw Cancelled();
    std::vector<Index> rows(usize(end - begin));
    std::iota(rows.begin(), rows.end(), begin);
    float* first = matrix.values_.get() + begin * matrix.stride_;
    for (Index r = 0; r < end - begin; ++r)
      std::fill(first + r * matrix.stride_ + matrix.rows_, first + (r + 1) * matrix.stride_, 0.0F);
    blocks.evaluate(features, rows, 0, matrix.rows_, first, matrix.stride_);
  });
  return matrix;
}

StoredMatrix StoredMatrix::finished(const Kernel& kernel, const MustStop& must_stop) const {
  StoredMatrix result(rows_);
  for (Index i = 0; i < rows_; ++i) {
    if (i % kRowsOfTask == 0 && must_stop && must_stop()) throw Cancelled();
    float* values = result.values_.get() + i * stride_;
    std::copy_n(row(i), stride_, values);
    finish_kernel(kernel, values, stride_);
  }
  return result;
}

StoredRows::StoredRows(StoredMatrix matrix, std::vector<Index> rows)
    : matrix_(std::move(matrix)), rows_(std::move(rows)) {
  for (const Index row : rows_) diagonal_.push_back(static_cast<double>(matrix_.row(row)[row]));
}

void StoredRows::square(std::span<const Index> points, float* block, Index stride) {
  const std::vector<Index> rows = picked(rows_, points);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const float* from = matrix_.row(rows[r]);
    float* to = block + static_cast<Index>(r) * stride;
    for (std::size_t c = 0; c < rows.size(); ++c) to[c] = from[rows[c]];
    std::fill(to + rows.size(), to + stride, 0.0F);
  }
}

bool StoredRows::precise_square(std::span<const Index> points, float* block, float* rest,
                                Index stride) {
  square(points, block, stride);
  std::fill_n(rest, points.size() * usize(stride), 0.0F);
  return true;
}

bool StoredRows::precise_rows(std::span<const Index> points, double* values) {
  for (const Index row : picked(rows_, points)) {
    const float* from = matrix_.row(row);
    for (const Index column : rows_) *values++ = static_cast<double>(from[column]);
  }
  return true;
}

void StoredRows::set_active(std::span<const Index> points) {
  active_columns_ = picked(rows_, points);
}

bool StoredRows::accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                            std::span<double> sums) {
  add(active_columns_, rows, coefficients, sums);
  return true;
}

bool StoredRows::accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                               std::span<const double> coefficients, std::span<double> sums) {
  add(picked(rows_, points), rows, coefficients, sums);
  return true;
}

void StoredRows::add(std::span<const Index> columns, std::span<const Index> rows,
                     std::span<const double> coefficients, std::span<double> sums) {
  if (columns.size() * kPickCost < usize(matrix_.rows())) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const float* values = matrix_.row(rows_[usize(rows[r])]);
      for (std::size_t c = 0; c < columns.size(); ++c)
        sums[c] += coefficients[r] * static_cast<double>(values[columns[c]]);
    }
    return;
  }
  all_sums_.assign(usize(matrix_.rows()), 0.0);
  std::vector<const float*> pointers;
  for (const Index row : rows) pointers.push_back(matrix_.row(rows_[usize(row)]));
  accumulate_rows(pointers, coefficients, matrix_.rows(), all_sums_.data());
  for (std::size_t c = 0; c < columns.size(); ++c) sums[c] += all_sums_[usize(columns[c])];
}

}  // namespace tamis

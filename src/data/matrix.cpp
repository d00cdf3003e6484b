#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "base/checked.hpp"
#include "base/mapped_file.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "tamis/dataset.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

struct SparseStorage {
  std::vector<Index> row_begin;
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

// Room for a dense copy. Small ones are not worth a look at the memory left.
std::vector<float> dense_storage(Index rows, Index cols) {
  constexpr Index kSmallBytes = Index{64} << 20;
  const Index bytes = checked_product(checked_product(rows, cols), sizeof(float));
  if (bytes > kSmallBytes)
    require_memory(
        fmt::format("a dense copy of {} of {}", counted(rows, "row"), counted(cols, "column")),
        bytes, memory_left(0));
  return std::vector<float>(usize(rows * cols));
}

void check_sparse_row(Index cols, Index row, Index begin, Index end,
                      std::span<const std::int32_t> columns) {
  std::int64_t last = -1;
  for (Index k = begin; k < end; ++k) {
    const std::int32_t column = columns[usize(k)];
    if (column <= last || column >= cols) {
      throw DataError(fmt::format("sparse rows: row {} has column {} after {} of {}", row, column,
                                  last, counted(cols, "column")));
    }
    last = column;
  }
}

bool are_ones(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return value == 1.0F; });
}

// Returns whether all values are 1. The error is that of the first bad row, for any number of
// threads.
bool check_sparse(Index cols, std::span<const Index> row_begin,
                  std::span<const std::int32_t> columns, std::span<const float> values) {
  if (row_begin.empty() || row_begin.front() != 0 || columns.size() != values.size() ||
      row_begin.back() != static_cast<Index>(values.size())) {
    throw DataError("sparse rows: the row offsets must run from 0 to the number of values");
  }
  constexpr Index kPieceRows = 4096;
  const Index rows = static_cast<Index>(row_begin.size()) - 1;
  const Index pieces = (rows + kPieceRows - 1) / kPieceRows;
  std::vector<std::exception_ptr> errors(usize(pieces));
  std::atomic<bool> only_ones = true;
  parallel_each(pieces, [&](Index p) {
    try {
      for (Index i = p * kPieceRows; i < std::min(rows, (p + 1) * kPieceRows); ++i) {
        const Index begin = row_begin[usize(i)];
        const Index end = row_begin[usize(i) + 1];
        if (begin < 0 || begin > end || end > row_begin.back())
          throw DataError(fmt::format("sparse rows: the row offset of row {} descends", i + 1));
        check_sparse_row(cols, i, begin, end, columns);
        if (only_ones && !are_ones(values.subspan(usize(begin), usize(end - begin))))
          only_ones = false;
      }
    } catch (...) {
      errors[usize(p)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return only_ones;
}

}  // namespace

Matrix Matrix::dense(Index rows, Index cols, std::vector<float> values) {
  if (rows < 0 || cols < 0 || checked_product(rows, cols) != static_cast<Index>(values.size())) {
    throw InvalidArgument(fmt::format("a matrix of {} x {} cannot hold {}", rows, cols,
                                      counted(values.size(), "value")));
  }
  auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  const float* data = owner->data();
  return dense_view(rows, cols, data, std::move(owner));
}

Matrix Matrix::dense_view(Index rows, Index cols, const float* values,
                          std::shared_ptr<const void> owner) {
  if (rows < 0 || cols < 0)
    throw InvalidArgument(fmt::format("a matrix cannot be {} x {}", rows, cols));
  checked_product(checked_product(rows, cols), sizeof(float));
  Matrix result;
  result.rows_ = rows;
  result.cols_ = cols;
  result.values_ = values;
  result.owner_ = std::move(owner);
  return result;
}

Matrix Matrix::sparse(Index cols, std::vector<Index> row_begin, std::vector<std::int32_t> columns,
                      std::vector<float> values) {
  auto owner = std::make_shared<const SparseStorage>(
      SparseStorage{std::move(row_begin), std::move(columns), std::move(values)});
  const SparseStorage& storage = *owner;
  return sparse_view(cols, storage.row_begin, storage.columns, storage.values, owner);
}

Matrix Matrix::sparse_view(Index cols, std::span<const Index> row_begin,
                           std::span<const std::int32_t> columns, std::span<const float> values,
                           std::shared_ptr<const void> owner) {
  const bool only_ones = check_sparse(cols, row_begin, columns, values);
  return checked_sparse_view(cols, row_begin, columns, values, std::move(owner), only_ones);
}

Matrix Matrix::checked_sparse_view(Index cols, std::span<const Index> row_begin,
                                   std::span<const std::int32_t> columns,
                                   std::span<const float> values, std::shared_ptr<const void> owner,
                                   bool only_ones) {
  Matrix result;
  result.only_ones_ = only_ones;
  result.rows_ = static_cast<Index>(row_begin.size()) - 1;
  result.cols_ = cols;
  result.values_ = values.data();
  result.row_begin_ = row_begin.data();
  result.columns_ = columns.data();
  result.owner_ = std::move(owner);
  return result;
}

Index Matrix::size_bytes() const {
  if (!is_sparse()) return num_stored() * static_cast<Index>(sizeof(float));
  return num_stored() * static_cast<Index>(sizeof(float) + sizeof(std::int32_t)) +
         (rows_ + 1) * static_cast<Index>(sizeof(Index));
}

void Matrix::require_intact() const {
  if (file_) file_->require_intact();
}

Matrix Matrix::in_file(std::shared_ptr<const MappedFile> file, bool known_finite) const {
  Matrix result = *this;
  result.file_ = std::move(file);
  result.known_finite_ = known_finite;
  return result;
}

void Matrix::copy_row(Index i, std::span<float> out) const {
  if (!is_sparse()) {
    const auto row = dense_row(i);
    std::copy(row.begin(), row.end(), out.begin());
    return;
  }
  std::fill(out.begin(), out.end(), 0.0F);
  const SparseRow row = sparse_row(i);
  for (std::size_t k = 0; k < row.columns.size(); ++k) out[usize(row.columns[k])] = row.values[k];
}

float Matrix::at(Index i, Index j) const {
  if (!is_sparse()) return values_[i * cols_ + j];
  const SparseRow row = sparse_row(i);
  const auto found = std::lower_bound(row.columns.begin(), row.columns.end(), j);
  if (found == row.columns.end() || *found != j) return 0.0F;
  return row.values[static_cast<std::size_t>(found - row.columns.begin())];
}

Matrix Matrix::select(std::span<const Index> rows) const {
  const Index count = static_cast<Index>(rows.size());
  if (!is_sparse()) {
    std::vector<float> values(usize(checked_product(count, cols_)));
    parallel_ranges(count, 1024, [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r)
        copy_row(rows[usize(r)], {values.data() + r * cols_, usize(cols_)});
    });
    require_intact();
    return dense(count, cols_, std::move(values));
  }
  SparseStorage out;
  out.row_begin.reserve(rows.size() + 1);
  out.row_begin.push_back(0);
  for (const Index r : rows)
    out.row_begin.push_back(out.row_begin.back() + row_begin_[r + 1] - row_begin_[r]);
  out.columns.resize(usize(out.row_begin.back()));
  out.values.resize(usize(out.row_begin.back()));
  parallel_ranges(count, 1024, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const SparseRow row = sparse_row(rows[usize(r)]);
      const Index at = out.row_begin[usize(r)];
      std::copy(row.columns.begin(), row.columns.end(), out.columns.begin() + at);
      std::copy(row.values.begin(), row.values.end(), out.values.begin() + at);
    }
  });
  require_intact();
  return sparse(cols_, std::move(out.row_begin), std::move(out.columns), std::move(out.values));
}

Matrix Matrix::slice(Index begin, Index end) const {
  Matrix result = *this;
  result.rows_ = end - begin;
  result.first_row_ += begin;
  if (!is_sparse()) {
    result.values_ = values_ + begin * cols_;
    return result;
  }
  // Offsets count from the first value of the rows.
  struct Offsets {
    std::vector<Index> row_begin;
    std::shared_ptr<const void> values;
  };
  const Index first = row_begin_[begin];
  Offsets offsets{std::vector<Index>(usize(end - begin + 1)), owner_};
  for (Index i = begin; i <= end; ++i) offsets.row_begin[usize(i - begin)] = row_begin_[i] - first;
  auto owner = std::make_shared<const Offsets>(std::move(offsets));
  result.row_begin_ = owner->row_begin.data();
  result.columns_ = columns_ + first;
  result.values_ = values_ + first;
  result.owner_ = std::move(owner);
  return result;
}

Matrix Matrix::numbered_as(const Matrix& other) const {
  Matrix result = *this;
  result.first_row_ = other.first_row_;
  return result;
}

Matrix Matrix::to_dense() const {
  if (!is_sparse()) return *this;
  std::vector<float> values = dense_storage(rows_, cols_);
  parallel_ranges(rows_, 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) copy_row(i, {values.data() + i * cols_, usize(cols_)});
  });
  require_intact();
  return dense(rows_, cols_, std::move(values)).numbered_as(*this);
}

Matrix Matrix::to_sparse() const {
  if (is_sparse()) return *this;
  SparseStorage out;
  out.row_begin.push_back(0);
  for (Index i = 0; i < rows_; ++i) {
    const auto row = dense_row(i);
    for (Index j = 0; j < cols_; ++j) {
      if (row[usize(j)] == 0.0F) continue;
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(row[usize(j)]);
    }
    out.row_begin.push_back(static_cast<Index>(out.values.size()));
  }
  require_intact();
  return sparse(cols_, std::move(out.row_begin), std::move(out.columns), std::move(out.values))
      .numbered_as(*this);
}

Matrix Matrix::with_values(const float* values, std::shared_ptr<const void> owner) const {
  struct Both {
    std::shared_ptr<const void> places;
    std::shared_ptr<const void> values;
  };
  Matrix result = *this;
  result.values_ = values;
  result.known_finite_ = false;
  result.only_ones_ = is_sparse() && are_ones({values, usize(num_stored())});
  result.owner_ = std::make_shared<const Both>(Both{owner_, std::move(owner)});
  return result;
}

Matrix Matrix::with_cols(Index cols) const {
  if (cols == cols_) return *this;
  for (Index i = 0; i < rows_ && cols < cols_; ++i) {
    for (Index j = cols; j < cols_ && !is_sparse(); ++j) {
      if (dense_row(i)[usize(j)] == 0.0F) continue;
      throw DataError(fmt::format("row {} has a value in column {}, but only {} known",
                                  row_number(i), j + 1, counted(cols, "column is", "columns are")));
    }
    if (!is_sparse()) continue;
    const SparseRow row = sparse_row(i);
    if (row.columns.empty() || row.columns.back() < cols) continue;
    throw DataError(fmt::format("row {} has a value in column {}, but only {} known", row_number(i),
                                row.columns.back() + 1, counted(cols, "column is", "columns are")));
  }
  if (is_sparse()) {
    Matrix result = *this;  // every stored column is below `cols`
    result.cols_ = cols;
    return result;
  }
  std::vector<float> values = dense_storage(rows_, cols);
  const Index shared = std::min(cols, cols_);
  for (Index i = 0; i < rows_; ++i)
    std::copy_n(values_ + i * cols_, shared, values.data() + i * cols);
  require_intact();
  return dense(rows_, cols, std::move(values)).numbered_as(*this);
}

void require_finite(const Matrix& features) {
  if (features.is_known_finite()) return;
  constexpr Index kNone = std::numeric_limits<Index>::max();
  std::atomic<Index> first = kNone;  // row with a value that is not finite
  parallel_ranges(features.rows(), 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end && i < first; ++i) {
      const auto values =
          features.is_sparse() ? features.sparse_row(i).values : features.dense_row(i);
      // A sum of zeros is 0 unless a value is infinite or NaN; it needs no branch an element.
      float sum = 0;
      for (const float value : values) sum += value * 0.0F;
      if (sum == 0) continue;
      Index seen = first;
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
    }
  });
  if (first == kNone) return;
  const Index row = first;
  const auto values =
      features.is_sparse() ? features.sparse_row(row).values : features.dense_row(row);
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  // A mapped file may be another one by now.
  if (bad == values.end()) throw DataError("the rows changed while they were read");
  const auto k = static_cast<std::size_t>(bad - values.begin());
  const Index column =
      features.is_sparse() ? features.sparse_row(row).columns[k] : static_cast<Index>(k);
  throw DataError(fmt::format("row {}, column {} is {}: values must be finite",
                              features.row_number(row), column + 1, *bad));
}

}  // namespace tamis

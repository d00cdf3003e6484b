#include "data/copy_rows.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"

namespace tamis {
namespace {

constexpr Index kRowsAtOnce = 1024;

Matrix copy_dense(const Matrix& features, std::span<const Index> rows, const std::string& what,
                  const RunControl& control) {
  const Index cols = features.cols();
  const auto copy = scratch_array<float>(what, checked_product(std::ssize(rows), cols), control);
  parallel_ranges(std::ssize(rows), kRowsAtOnce, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      features.copy_row(rows[usize(r)], {copy.values.get() + r * cols, usize(cols)});
  });
  return Matrix::dense_view(std::ssize(rows), cols, copy.values.get(), copy.values);
}

Matrix copy_sparse(const Matrix& features, std::span<const Index> rows, const std::string& what,
                   const RunControl& control) {
  struct Arrays {
    ScratchArray<Index> row_begin;
    ScratchArray<std::int32_t> columns;
    ScratchArray<float> values;
  };
  Arrays copy;
  copy.row_begin = scratch_array<Index>(what, std::ssize(rows) + 1, control);
  Index* const begin_of = copy.row_begin.values.get();
  for (std::size_t r = 0; r < rows.size(); ++r)
    begin_of[r + 1] = begin_of[r] + std::ssize(features.sparse_row(rows[r]).values);
  const Index stored = begin_of[rows.size()];
  copy.columns = scratch_array<std::int32_t>(what, stored, control);
  copy.values = scratch_array<float>(what, stored, control);
  parallel_ranges(std::ssize(rows), kRowsAtOnce, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const SparseRow row = features.sparse_row(rows[usize(r)]);
      std::copy(row.columns.begin(), row.columns.end(), copy.columns.values.get() + begin_of[r]);
      std::copy(row.values.begin(), row.values.end(), copy.values.values.get() + begin_of[r]);
    }
  });
  auto owner = std::make_shared<const Arrays>(std::move(copy));
  return Matrix::checked_sparse_view(
      features.cols(), {owner->row_begin.values.get(), rows.size() + 1},
      {owner->columns.values.get(), usize(stored)}, {owner->values.values.get(), usize(stored)},
      owner, features.has_only_ones());
}

}  // namespace

Matrix copy_rows(const Matrix& features, std::span<const Index> rows, const std::string& what,
                 const RunControl& control) {
  Matrix copy = features.is_sparse() ? copy_sparse(features, rows, what, control)
                                     : copy_dense(features, rows, what, control);
  features.require_intact();
  return copy;
}

Matrix unmapped_rows(const Matrix& features, const RunControl& control) {
  if (!features.is_mapped()) return features;
  std::vector<Index> all(usize(features.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  return copy_rows(features, all, "copying the rows into the model", control);
}

}  // namespace tamis

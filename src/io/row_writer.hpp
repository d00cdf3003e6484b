// Rows to bytes in parallel, bytes to a file in order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/group_file.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Turns one row into bytes. Called from many threads.
class RowFormatter {
 public:
  RowFormatter() = default;
  RowFormatter(const RowFormatter&) = delete;
  RowFormatter& operator=(const RowFormatter&) = delete;
  virtual ~RowFormatter() = default;
  virtual void append(Index row, std::string& out) const = 0;
};

/// The row with every zero written out: a view of a dense row, or of `copy`.
std::span<const float> dense_values(const Matrix& features, Index row, std::vector<float>* copy);

/// Writes `rows` rows of about `values_per_row` values; holds a few blocks of about 400 KB a
/// thread, or of one row if that is longer.
void write_rows(ByteSink& file, const RowFormatter& formatter, Index rows, Index values_per_row,
                const RunControl& control);

/// Throws ResourceError if rows with every zero written out do not fit the memory budget.
void require_row_memory(const char* what, Index cols, const RunControl& control);

/// X.csr: sparse rows with labels, weights and names.
void write_csr(const std::string& path, const Dataset& data, const RunControl& control);

/// X.npy as float32, and its labels, if any, as X.labels.npy.
void write_npy(const std::string& path, const Dataset& data, const RunControl& control);

}  // namespace tamis

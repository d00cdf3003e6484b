// Which rows of the data a model's support vectors are.
#pragma once

#include <functional>
#include <vector>

#include "base/group.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// A row that is one of the vectors.
struct VectorRow {
  Index row = 0;
  Index vector = 0;  ///< its name
};

struct VectorRows {
  /// Vectors that are the same row have one name, a number among the vectors; -1: it is no row of
  /// any rank.
  std::vector<Index> names;
  std::vector<VectorRow> rows;  ///< of this rank, ascending
};

/// Two rows are equal when their non-zero values are, however they are stored. A vector that equals
/// no row may still be one that a text file kept with 8 digits: then values that differ by a few
/// last bits count as equal. Takes memory for the vectors, and for the rows found. Every rank
/// calls it, with its rows. `serial_only`: column 0 alone counts (precomputed kernels); `counts`:
/// whether a row counts at all.
VectorRows find_vector_rows(const Matrix& vectors, const Matrix& rows, bool serial_only,
                            const std::function<bool(Index)>& counts, Group& group = alone());

}  // namespace tamis

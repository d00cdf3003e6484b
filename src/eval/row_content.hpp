// Which rows have the same content, and which of them a given vector is.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tamis/dataset.hpp"

namespace tamis {

/// Rows of equal content form a group. Two rows are equal when their non-zero values are, however
/// they are stored.
class RowContent {
 public:
  /// `serial_only`: column 0 alone counts (precomputed kernels). `rows` must outlive this.
  RowContent(const Matrix& rows, bool serial_only);

  Index num_groups() const { return static_cast<Index>(first_row_.size()); }
  Index group_of(Index row) const { return group_[static_cast<std::size_t>(row)]; }

  /// The group of each vector, -1 where there is none. A vector that equals no row may still be one
  /// that a text file kept with 8 digits: then values that differ by a few last bits count as
  /// equal.
  std::vector<Index> find(const Matrix& vectors) const;

 private:
  using Entry = std::pair<std::int32_t, float>;  // column, value

  std::vector<Entry> entries(const Matrix& matrix, Index row) const;
  std::uint64_t hash(const Matrix& matrix, Index row) const;
  Index find_equal(const Matrix& vectors, Index v) const;
  void find_similar(const Matrix& vectors, std::vector<Index>* groups) const;

  const Matrix& rows_;
  bool serial_only_;
  std::vector<Index> group_;
  std::vector<Index> first_row_;                          // of each group
  std::vector<std::pair<std::uint64_t, Index>> by_hash_;  // hash and group, ascending
};

}  // namespace tamis

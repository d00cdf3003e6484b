// An index that rows are added to.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// Answers whether a row that was inserted lies within a radius, as a naive scan would (rows held
/// sparse: up to the rounding of distances, for each part decides by itself how to hold its rows).
/// Rows are kept in parts of growing size, each an index of its own, and two parts become one when
/// the newer is as large as the older: a row is moved log2(n) times in all. Not for use from
/// several threads while rows are inserted.
class GrowingIndex {
 public:
  explicit GrowingIndex(const Metric& metric) : metric_(metric) {}

  /// All rows have the same columns and storage. Throws as make_neighbor_index() does.
  void insert(Matrix rows, const RunControl& control = {});
  Index size() const { return size_; }

  /// 1 for each of the given rows of `queries` that has an inserted row within the radius, else 0.
  std::vector<std::uint8_t> any_within(const Matrix& queries, std::span<const Index> rows,
                                       double squared_radius, const RunControl& control = {}) const;

 private:
  struct Part {
    Matrix rows;
    std::unique_ptr<NeighborIndex> index;
  };

  Metric metric_;
  Index size_ = 0;
  std::vector<Part> parts_;  // the largest first
};

}  // namespace tamis

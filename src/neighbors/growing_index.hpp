// An index that rows are added to one by one.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "neighbors/distances.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// Answers whether an inserted row lies within a radius, with the distance and so the answer of a
/// naive scan. The latest rows are scanned in blocks; older ones are in parts of growing size, each
/// an index of its own, and two parts become one when the newer is as large as the older: a row is
/// moved log2(n) times in all. Not for use from several threads while rows are inserted.
class GrowingIndex {
 public:
  /// Rows of `rows`, which is shared, may be inserted and asked for.
  GrowingIndex(const Matrix& rows, const Metric& metric);
  ~GrowingIndex();

  void insert(Index row);
  Index size() const { return size_; }

  bool any_within(Index row, double squared_radius) const;

 private:
  struct Part {
    std::vector<Index> rows;
    std::unique_ptr<NeighborIndex> index;
  };

  bool recent_within(Index row, float limit) const;
  void move_recent_to_parts();

  std::shared_ptr<const Space> space_;
  Index size_ = 0;
  std::vector<Part> parts_;  // the largest first
  std::vector<Index> recent_;
  std::vector<Distances> recent_blocks_;   // a part of recent_, full panels
  std::unique_ptr<Distances> last_block_;  // the others
};

}  // namespace tamis

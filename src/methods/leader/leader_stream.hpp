// The leader pass over rows that come block by block and are not kept.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "neighbors/growing_index.hpp"

namespace tamis {

/// Leaders of one class. What lies within the threshold of a leader found in an earlier block is
/// struck out first; the rest of the block is sifted among itself. So the leaders are those of the
/// naive scan over all rows in their order, as far as GrowingIndex answers like one.
class LeaderStream {
 public:
  LeaderStream(const Metric& metric, double threshold);

  /// Which of these rows of `block` become leaders, in the order given. Blocks have the same
  /// columns and storage. Throws Cancelled.
  std::vector<Index> add(const Matrix& block, std::vector<Index> rows, const RunControl& control);

  Index size() const { return leaders_.size(); }

 private:
  Metric metric_;
  double squared_threshold_;
  GrowingIndex leaders_;
};

/// How many rows are nearest to each of the leaders of a class, block by block.
class ClusterSizes {
 public:
  ClusterSizes(const Metric& metric, const Matrix& leaders, const RunControl& control);
  /// Counts some rows of a block.
  void add(const Matrix& block, std::span<const Index> rows, const RunControl& control);
  /// Of each leader so far.
  const std::vector<Index>& rows() const { return rows_; }

 private:
  std::unique_ptr<NeighborIndex> index_;
  std::vector<Index> rows_;
};

}  // namespace tamis

// The leader pass over rows that come block by block and are not kept.
#pragma once

#include <memory>
#include <vector>

#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// Leaders of one class. What lies within the threshold of a leader found in an earlier block is
/// struck out first; the rest of the block is sifted among itself. So the leaders are those of the
/// naive scan over all rows in their order (rows held sparse: up to the rounding of distances).
/// Leaders are held in indexes of growing size, two of which become one when the newer is as large
/// as the older: a leader is moved log2(n) times in all.
class LeaderStream {
 public:
  LeaderStream(const Metric& metric, double threshold);
  ~LeaderStream();
  LeaderStream(LeaderStream&&) noexcept;

  /// Which of these rows of `block` become leaders, in the order given. Blocks have the same
  /// columns and storage. Throws Cancelled.
  std::vector<Index> add(const Matrix& block, std::vector<Index> rows, const RunControl& control);

  Index size() const { return size_; }

 private:
  struct Part {
    Matrix leaders;
    std::unique_ptr<NeighborIndex> index;
  };

  void keep(Matrix leaders, const RunControl& control);

  Metric metric_;
  double squared_threshold_;
  Index size_ = 0;
  std::vector<Part> parts_;  // the largest first
};

}  // namespace tamis

// Bounding boxes of runs of points: how far a row is from them at least.
#pragma once

#include <span>

#include "kernels/aligned_floats.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Boxes are handled in panels of this many.
inline constexpr Index kBoxPanel = 16;

class PointBoxes {
 public:
  /// A box around each run of `run` points; the points are rows `rows` of `points`, in that order.
  PointBoxes(const Matrix& points, std::span<const Index> rows, Index run);

  Index size() const { return size_; }
  Index num_panels() const { return (size_ + kBoxPanel - 1) / kBoxPanel; }
  /// out[l]: a lower bound of the squared distances of row `row` of `queries` to the points of box
  /// 16 * panel + l; huge where there is no such box.
  void squared_distances(const Matrix& queries, Index row, Index panel, float* out) const;

 private:
  Index size_;
  Index cols_;
  AlignedFloats edges_;      // panel after panel: see simd::box_distances
  AlignedFloats from_zero_;  // sparse points: see simd::sparse_box_distances
};

}  // namespace tamis

// The kernel values among some points, as a block of the solver needs them.
#pragma once

#include <span>
#include <vector>

#include "kernels/kernel_blocks.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// All ways to compute a value give the same bits.
class PointSquare {
 public:
  /// The points are rows `rows` of `data`, which must outlive this; `norms` as KernelBlocks wants
  /// them.
  PointSquare(const Kernel& kernel, const Matrix& data, std::vector<Index> rows,
              std::vector<float> norms, DistanceBy distance_by);

  Index size() const { return blocks_.num_points(); }

  /// block[r * stride + c] = K(point r, point c), where the values among the last `known` points
  /// are in their places already. Returns how many values were computed.
  Index compute(Index known, float* block, Index stride) const;

  /// The same with a part of the values from each rank. All ranks call it, with equal points; the
  /// first one gets the values. Returns how many this rank computed.
  Index compute_together(Group& group, Index known, float* block, Index stride) const;

  /// values[c] = K(point r, point c). Safe to call from many threads.
  void compute_row(Index r, float* values) const;

 private:
  /// Rows [begin, end), from column `first` on.
  struct Strip {
    Index begin = 0;
    Index end = 0;
    Index first = 0;
  };

  /// What has to be computed: the others are known, or mirrored.
  std::vector<Strip> strips(Index known) const;
  /// Each pair of points once.
  Index count_values(std::span<const Strip> strips, Index known) const;
  void compute_strips(std::span<const Strip> strips, float* block, Index stride) const;
  void mirror_strips(Index known, float* block, Index stride) const;

  const Matrix& data_;
  std::vector<Index> rows_;
  std::vector<float> norms_;
  KernelBlocks blocks_;
  Index strip_rows_;
  bool mirrors_;
};

}  // namespace tamis

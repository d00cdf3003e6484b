// Which points an RBF kernel reaches: the kernel values of all others are as good as zero, and need
// not be computed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/point_boxes.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// Whether so many of the kernel values are as good as zero that leaving them out beats keeping
/// rows. Found out from the pairs of `sample`, kFarSample of all `count` rows.
bool has_many_far_pairs(const Kernel& kernel, const Matrix& data, std::span<const Index> sample,
                        Index count);
inline constexpr Index kFarSample = 64;
/// The same with a sample of these rows: it depends on nothing but what they hold and their order.
bool has_many_far_pairs(const Kernel& kernel, const Matrix& data, std::span<const Index> rows);

/// Kernel values below this count as zero where far points are left out: for all points alike, so
/// that no sum depends on which points happen to share a box.
float least_near_value();

/// Points in groups of 64, those in strips of 16, each with its bounding box. It pays when near
/// points follow one another.
class NearPoints {
 public:
  static constexpr Index kGroup = 64;
  static constexpr Index kStrip = kBoxPanel * kGroup;

  NearPoints(const Kernel& kernel, const Matrix& data, std::span<const Index> points);
  /// What the boxes of so many points of `data` take, where there are any.
  static Index bytes(const Matrix& data, Index points);

  Index num_strips() const { return strips_.size(); }
  /// Bit s of number panel * rows.size() + r: the kernel may reach from row rows[r] of `data` to
  /// strip panel * kBoxPanel + s.
  std::vector<std::uint16_t> near_strips(const Matrix& data, std::span<const Index> rows) const;
  /// Bit g: the kernel may reach from the row to group g of the strip.
  unsigned near_groups(const Matrix& data, Index row, Index strip) const;

 private:
  unsigned near_boxes(const PointBoxes& boxes, const Matrix& data, Index row, Index panel) const;

  float reach_;  // squared distance
  PointBoxes strips_;
  PointBoxes groups_;
};

/// For every group of a strip: the rows that reach it, in order, of a part of at most kMost.
class ReachingRows {
 public:
  static constexpr Index kMost = 1024;

  void clear() { counts_.fill(0); }
  void add(std::size_t group, Index row) {
    rows_[group][counts_[group]++] = static_cast<std::uint16_t>(row);
  }
  std::span<const std::uint16_t> of(Index group) const {
    return std::span(rows_[static_cast<std::size_t>(group)])
        .first(counts_[static_cast<std::size_t>(group)]);
  }

 private:
  std::array<std::size_t, kBoxPanel> counts_{};
  std::array<std::array<std::uint16_t, kMost>, kBoxPanel> rows_;
};

}  // namespace tamis

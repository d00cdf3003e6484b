#pragma once

#include "neighbors/kd_tree.hpp"

namespace tamis {

/// Fills the arrays of a tree whose shape is settled.
class KdTree::Builder {
 public:
  Builder(KdTree& tree, const RunControl& control);
  void run();

 private:
  void split(Index node, int depth);
  std::int32_t widest_feature(Range range) const;
  void select_median(Range range, Index middle);
  void make_leaf_box(Index node);
  void poll() const;

  KdTree& tree_;
  const Matrix& points_;
  const RunControl& control_;
  std::vector<std::uint64_t> keys_;  // value along the feature of the split, row number
  std::vector<std::uint64_t> moved_;
};

}  // namespace tamis

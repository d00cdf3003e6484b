#pragma once

#include "neighbors/distances.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// A balanced tree of boxes over rows held dense.
///
/// Points are split at the median of (value, row number) along the widest feature, at multiples of
/// the SIMD panel, until one to a few panels are left: a perfect binary tree, whose node i has the
/// children 2 i and 2 i + 1 and whose range of points follows from i. Copies of a row split like
/// other rows, and each node knows its lowest row number, so that a query does not look through
/// copies that lose the tie.
///
/// Queries descend in groups of 16, one SIMD lane each. Each first looks through its home, the
/// smallest node around it with k points, for a first bound. A node is entered for the lanes whose
/// distance to its box does not exceed their bound, so a group costs no query more than going
/// alone, and shares boxes, leaves and cache lines with its neighbours.
class KdTree final : public NeighborIndex {
 public:
  KdTree(std::shared_ptr<const Space> space, const RunControl& control);

  Structure structure() const override { return Structure::kd_tree; }
  Index size_bytes() const override;

 protected:
  Index group_size() const override;
  std::vector<std::uint32_t> visit_order(const QueryBatch& batch) const override;
  void search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
              std::span<Candidates> found) const override;

 private:
  class Builder;
  class GroupSearch;

  struct Range {
    Index begin = 0;
    Index end = 0;
  };
  /// The points below a node, which is `depth` steps below the root.
  Range points_of(Index node, int depth) const;
  const float* box(Index node) const { return boxes_.data() + 2 * cols_ * node; }
  Index home_leaf(std::span<const float> row) const;

  Index cols_ = 0;
  Index panels_ = 0;
  int depth_ = 0;                             // leaves are this far below the root, node 1
  std::vector<std::uint32_t> rows_;           // row number of each point in tree order
  std::vector<float> boxes_;                  // per node: lower bounds, upper bounds
  std::vector<std::uint32_t> min_rows_;       // per node: the lowest row number below it
  std::vector<std::int32_t> split_features_;  // per inner node
  std::vector<float> split_values_;           // points above it went right
  std::unique_ptr<Distances> distances_;      // of the points in tree order
};

}  // namespace tamis

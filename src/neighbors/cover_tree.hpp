#pragma once

#include "neighbors/distances.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// A tree of balls that needs nothing but distances, after the cover tree (Beygelzimer, Kakade,
/// Langford, "Cover trees for nearest neighbor", 2006), built from all rows at once.
///
/// A node has a centre and covers the rows below it within its radius. Its children's centres are
/// its own (nesting) and then each time the row farthest from those chosen, until all rows lie
/// within half the radius of one: so siblings are separated by more than that half, and each row
/// goes to the nearest. At most kMostChildren are chosen; a node that these do not break up, as
/// when all rows are equally far apart, is a leaf. A leaf of equal rows costs one distance whatever
/// their number.
///
/// Bounds follow from the triangle inequality and allow for the rounding of the distances, so the
/// answers are those of brute force. Queries go in groups of 16 as in the kd-tree.
class CoverTree final : public NeighborIndex {
 public:
  CoverTree(std::shared_ptr<const Space> space, const RunControl& control);
  ~CoverTree() override;

  Structure structure() const override { return Structure::cover_tree; }
  Index size_bytes() const override;

 protected:
  Index group_size() const override;
  std::vector<std::uint32_t> visit_order(const QueryBatch& batch) const override;
  void search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
              std::span<Candidates> found) const override;

 private:
  class Builder;
  class GroupSearch;

  struct Node {
    Index begin = 0;  // the rows below, in tree order; ascending
    Index end = 0;
    Index first_child = 0;
    Index num_children = 0;  // 0: leaf
    Index first_centre = 0;  // the children's centres among all centres, a multiple of kPanel
    double radius = 0;       // at least the exact distance of centre and rows
    std::uint32_t min_row = 0;
    bool equal_rows = false;  // all rows below are copies of one
  };

  /// The leaf a row is led to by taking the nearest child each time.
  Index home_leaf(const QueryBatch& batch, std::uint32_t query) const;

  std::vector<Node> nodes_;  // the root first, children of a node side by side
  std::vector<Index> parents_;
  std::vector<std::uint32_t> rows_;
  double largest_self_ = 0;  // largest K(x, x) of the points
  std::unique_ptr<Distances> points_;
  std::unique_ptr<Distances> centres_;
};

}  // namespace tamis

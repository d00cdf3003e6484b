#include "neighbors/kd_tree.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "neighbors/candidates.hpp"
#include "neighbors/kd_tree_builder.hpp"
#include "neighbors/simd/scan.hpp"

namespace tamis {
namespace {

constexpr Index kLanes = 16;       // queries of a group
constexpr Index kFewFeatures = 8;  // up to here leaves of two panels pay, above four
constexpr Index kMostLeafPoints = 4 * kPanel;
constexpr int kMostDepth = 32;

}  // namespace

KdTree::KdTree(std::shared_ptr<const Space> shared, const RunControl& control)
    : NeighborIndex(std::move(shared)) {
  TAMIS_CHECK(space().uses_differences() && space().points().rows() > 0);
  const Matrix& points = space().points();
  cols_ = points.cols();
  panels_ = round_up(points.rows(), kPanel) / kPanel;
  const Index leaf_panels = cols_ <= kFewFeatures ? 2 : 4;
  while ((panels_ >> depth_) + ((panels_ & ((Index{1} << depth_) - 1)) != 0 ? 1 : 0) > leaf_panels)
    ++depth_;
  const Index nodes = Index{2} << depth_;
  const Index box_floats = checked_product(2 * nodes, cols_);
  const Index packed_floats = checked_product(panels_ * kPanel, cols_);
  // Boxes and packed points; keys to sort by, twice; order and row numbers.
  const Index bytes = checked_sum(checked_product(checked_sum(box_floats, packed_floats), 4),
                                  checked_product(points.rows(), 3 * 8 + 4));
  require_memory("the kd-tree", bytes, memory_left(control.memory_bytes));
  rows_.resize(usize(points.rows()));
  boxes_.resize(usize(box_floats));
  min_rows_.resize(usize(nodes));
  split_features_.resize(usize(nodes / 2));
  split_values_.resize(usize(nodes / 2));
  Builder(*this, control).run();
  const std::vector<Index> order(rows_.begin(), rows_.end());
  distances_ = std::make_unique<Distances>(space(), order);
}

Index KdTree::size_bytes() const {
  return distances_->size_bytes() +
         static_cast<Index>(4 * (rows_.size() + boxes_.size() + min_rows_.size() +
                                 split_features_.size() + split_values_.size()));
}

KdTree::Range KdTree::points_of(Index node, int depth) const {
  const Index position = node - (Index{1} << depth);
  const Index begin = position * panels_ >> depth;
  const Index end = (position + 1) * panels_ >> depth;
  return {begin * kPanel, std::min(end * kPanel, num_points())};
}

Index KdTree::home_leaf(std::span<const float> row) const {
  Index node = 1;
  for (int level = 0; level < depth_; ++level) {
    const bool right = row[usize(split_features_[usize(node)])] > split_values_[usize(node)];
    node = 2 * node + (right ? 1 : 0);
  }
  return node;
}

Index KdTree::group_size() const { return kLanes; }

// Queries by home leaf, then number.
std::vector<std::uint32_t> KdTree::visit_order(const QueryBatch& batch) const {
  if (batch.size() == 1) return {};
  std::vector<std::uint64_t> keys(batch.rows.size());
  parallel_ranges(batch.size(), 256, [&](Index begin, Index end) {
    batch.poll();
    for (Index q = begin; q < end; ++q) {
      const Index leaf = home_leaf(batch.matrix.dense_row(batch.rows[usize(q)]));
      keys[usize(q)] = static_cast<std::uint64_t>(leaf) << 32 | static_cast<std::uint64_t>(q);
    }
  });
  // Sorted in as many pieces as there are threads to use, then merged; keys are distinct, so the
  // pieces do not show.
  constexpr Index kPiece = 1 << 16;
  parallel_ranges(batch.size(), kPiece, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += kPiece) {
      batch.poll();
      std::sort(keys.begin() + first, keys.begin() + std::min(first + kPiece, end));
    }
  });
  for (Index width = kPiece; width < batch.size(); width *= 2) {
    parallel_ranges(batch.size(), 2 * width, [&](Index begin, Index end) {
      for (Index first = begin; first < end; first += 2 * width) {
        batch.poll();
        std::inplace_merge(keys.begin() + first, keys.begin() + std::min(first + width, end),
                           keys.begin() + std::min(first + 2 * width, end));
      }
    });
  }
  std::vector<std::uint32_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(),
                 [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
  return order;
}

class KdTree::GroupSearch {
 public:
  GroupSearch(const KdTree& tree, const QueryBatch& batch, std::span<const std::uint32_t> queries,
              std::span<Candidates> found);
  void visit_homes(Index k);
  void visit_rest();

 private:
  using LaneSet = std::uint32_t;
  struct Entry {
    Index node = 0;
    int depth = 0;
    float bounds[kLanes];  // the distance of each lane to the node's box
  };

  LaneSet lanes_to_enter(const Entry& entry) const;
  float nearest_bound(const float* bounds, LaneSet lanes) const;
  void scan(Range range, LaneSet lanes);
  void note_bound(Index lane);

  const KdTree& tree_;
  const QueryBatch& batch_;
  std::span<Candidates> found_;
  Index num_lanes_;
  Index rows_[kLanes] = {};
  hwy::AlignedFreeUniquePtr<float[]> panel_;  // the queries side by side, feature after feature
  float limits_[kLanes];                      // distance of the lane's bound; -1: unused lane
  Index homes_[kLanes] = {};
  int home_depth_ = kMostDepth;  // homes_ are nodes of this depth; beyond the tree: none
  int scans_ = 0;
};

KdTree::GroupSearch::GroupSearch(const KdTree& tree, const QueryBatch& batch,
                                 std::span<const std::uint32_t> queries,
                                 std::span<Candidates> found)
    : tree_(tree),
      batch_(batch),
      found_(found),
      num_lanes_(static_cast<Index>(queries.size())),
      panel_(hwy::AllocateAligned<float>(usize(std::max<Index>(1, tree.cols_) * kLanes))) {
  if (!panel_) throw std::bad_alloc();
  for (Index lane = 0; lane < kLanes; ++lane) {
    // Unused lanes repeat the first query, so that they hold nothing unusual.
    const std::uint32_t query = queries[lane < num_lanes_ ? usize(lane) : 0];
    const Index row = batch.rows[query];
    const auto values = batch.matrix.dense_row(row);
    for (Index j = 0; j < tree.cols_; ++j) panel_[usize(j * kLanes + lane)] = values[usize(j)];
    rows_[lane] = row;
    limits_[lane] = lane < num_lanes_ ? found[usize(lane)].limit() : -1.0F;
  }
}

void KdTree::GroupSearch::note_bound(Index lane) { limits_[lane] = found_[usize(lane)].limit(); }

// Offers the points of a range to the given lanes.
void KdTree::GroupSearch::scan(Range range, LaneSet lanes) {
  alignas(64) float values[kLanes * kMostLeafPoints];
  Index rows[kLanes];
  Index lane_of[kLanes];
  Index count = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    lane_of[count] = std::countr_zero(lanes);
    rows[count] = rows_[lane_of[count]];
    ++count;
  }
  for (Index begin = range.begin; begin < range.end; begin += kMostLeafPoints) {
    const Index end = std::min(begin + kMostLeafPoints, range.end);
    if (++scans_ % 256 == 0) batch_.poll();
    tree_.distances_->evaluate(batch_.matrix, {rows, usize(count)}, {}, begin, end, values,
                               kMostLeafPoints);
    for (Index i = 0; i < count; ++i) {
      Candidates& found = found_[usize(lane_of[i])];
      const Index written =
          simd::collect_keys(values + i * kMostLeafPoints, end - begin, limits_[lane_of[i]],
                             tree_.rows_.data() + begin, 0, found.reserve(end - begin));
      if (written == 0) continue;
      found.commit(written);
      note_bound(lane_of[i]);
    }
  }
}

// Homes are all of one depth, the deepest where every node has k points.
void KdTree::GroupSearch::visit_homes(Index k) {
  home_depth_ = tree_.depth_;
  while (home_depth_ > 0 && (tree_.panels_ >> home_depth_) * kPanel - (kPanel - 1) < k)
    --home_depth_;
  for (Index lane = 0; lane < num_lanes_; ++lane) {
    homes_[lane] =
        tree_.home_leaf(batch_.matrix.dense_row(rows_[lane])) >> (tree_.depth_ - home_depth_);
  }
  for (Index lane = 0; lane < num_lanes_;) {
    const Index home = homes_[lane];
    LaneSet together = 0;
    for (; lane < num_lanes_ && homes_[lane] == home; ++lane) together |= 1U << lane;
    scan(tree_.points_of(home, home_depth_), together);
  }
}

KdTree::GroupSearch::LaneSet KdTree::GroupSearch::lanes_to_enter(const Entry& entry) const {
  LaneSet lanes = 0;
  for (LaneSet lane = 0; lane < kLanes; ++lane) {
    if (entry.bounds[lane] <= limits_[lane]) lanes |= LaneSet{1} << lane;
  }
  if (lanes == 0) return 0;
  const std::uint32_t min_row = tree_.min_rows_[usize(entry.node)];
  const int below_home = entry.depth - home_depth_;
  for (LaneSet left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const bool seen = below_home >= 0 && entry.node >> below_home == homes_[lane];
    const bool loses_tie = neighbor_key(entry.bounds[lane], min_row) > found_[usize(lane)].bound();
    if (seen || loses_tie) lanes &= ~(1U << lane);
  }
  return lanes;
}

float KdTree::GroupSearch::nearest_bound(const float* bounds, LaneSet lanes) const {
  float nearest = std::numeric_limits<float>::infinity();
  for (; lanes != 0; lanes &= lanes - 1)
    nearest = std::min(nearest, bounds[std::countr_zero(lanes)]);
  return nearest;
}

// Depth first, the nearer child first.
void KdTree::GroupSearch::visit_rest() {
  Entry stack[kMostDepth + 1];
  int size = 1;
  stack[0] = {1, 0, {}};
  while (size > 0) {
    const Entry entry = stack[--size];
    const LaneSet lanes = lanes_to_enter(entry);
    if (lanes == 0) continue;
    if (entry.depth == tree_.depth_) {
      scan(tree_.points_of(entry.node, entry.depth), lanes);
      continue;
    }
    float bounds[2 * kLanes];
    const Index left = 2 * entry.node;
    simd::box_distances(panel_.get(), tree_.cols_, tree_.box(left), 2, bounds);
    const bool right_first = nearest_bound(bounds + kLanes, lanes) < nearest_bound(bounds, lanes);
    for (const bool right : {!right_first, right_first}) {
      Entry& child = stack[size++];
      child.node = left + (right ? 1 : 0);
      child.depth = entry.depth + 1;
      std::copy_n(bounds + (right ? kLanes : 0), kLanes, child.bounds);
    }
  }
}

void KdTree::search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
                    std::span<Candidates> found) const {
  GroupSearch search(*this, batch, queries, found);
  if (found[0].k() < num_points()) search.visit_homes(found[0].k());
  search.visit_rest();
}

}  // namespace tamis

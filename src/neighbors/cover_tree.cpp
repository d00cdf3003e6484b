#include "neighbors/cover_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "neighbors/candidates.hpp"
#include "neighbors/cover_tree_builder.hpp"
#include "neighbors/simd/scan.hpp"

namespace tamis {
namespace {

constexpr Index kGroupQueries = 16;
constexpr Index kStripRows = 128;

}  // namespace

CoverTree::CoverTree(std::shared_ptr<const Space> shared, const RunControl& control)
    : NeighborIndex(std::move(shared)) {
  TAMIS_CHECK(space().is_metric() && space().points().rows() > 0);
  const Matrix& points = space().points();
  // Rows packed in tree order, and once more while cells are divided; the builder's arrays.
  const Index bytes = checked_sum(checked_product(2, points.size_bytes()),
                                  checked_product(points.rows(), 4 * 4 + 1 + 8 + 4));
  require_memory("the cover tree", bytes, memory_left(control.memory_bytes));
  if (!space().uses_differences()) {
    std::vector<Index> all(usize(points.rows()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    for (const float self : space().self_values(points, all))
      largest_self_ = std::max(largest_self_, static_cast<double>(self));
  }
  Builder(*this, control).run();
}

CoverTree::~CoverTree() = default;

Index CoverTree::size_bytes() const {
  return points_->size_bytes() + (centres_ ? centres_->size_bytes() : 0) +
         static_cast<Index>(nodes_.size() * (sizeof(Node) + sizeof(Index)) + 4 * rows_.size());
}

Index CoverTree::group_size() const { return kGroupQueries; }

Index CoverTree::home_leaf(const QueryBatch& batch, std::uint32_t query) const {
  const Index row = batch.rows[query];
  const float self = batch.self.empty() ? 0.0F : batch.self[query];
  alignas(64) float values[Builder::kMostChildren];
  Index node = 0;
  while (nodes_[usize(node)].num_children > 0) {
    const Node& at = nodes_[usize(node)];
    centres_->evaluate(batch.matrix, {&row, 1}, {&self, 1}, at.first_centre,
                       at.first_centre + at.num_children, values, Builder::kMostChildren);
    node = at.first_child + (std::min_element(values, values + at.num_children) - values);
  }
  return node;
}

// Queries by home leaf, then number.
std::vector<std::uint32_t> CoverTree::visit_order(const QueryBatch& batch) const {
  if (batch.size() == 1) return {};
  std::vector<std::uint64_t> keys(batch.rows.size());
  parallel_ranges(batch.size(), 64, [&](Index begin, Index end) {
    batch.poll();
    for (Index q = begin; q < end; ++q) {
      const Index leaf = home_leaf(batch, static_cast<std::uint32_t>(q));
      keys[usize(q)] = static_cast<std::uint64_t>(nodes_[usize(leaf)].begin) << 32 |
                       static_cast<std::uint64_t>(q);
    }
  });
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(),
                 [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
  return order;
}

class CoverTree::GroupSearch {
 public:
  GroupSearch(const CoverTree& tree, const QueryBatch& batch,
              std::span<const std::uint32_t> queries, std::span<Candidates> found);
  void visit_homes(Index k);
  void visit_rest();

 private:
  using LaneSet = std::uint32_t;
  struct Entry {
    Index node = 0;
    float nearest = 0;  // smallest distance of a lane to the centre
    float bounds[kGroupQueries];
  };
  // The chosen lanes side by side.
  struct Lanes {
    Index count = 0;
    Index lane[kGroupQueries];
    Index rows[kGroupQueries];
    float self[kGroupQueries];

    std::span<const Index> row_span() const { return {rows, usize(count)}; }
    std::span<const float> self_span() const { return {self, usize(count)}; }
  };

  Lanes chosen(LaneSet lanes) const;
  LaneSet lanes_to_enter(const Entry& entry) const;
  float lower_bound(Index lane, float squared_distance, double radius) const;
  void scan(const Node& node, LaneSet lanes);
  void offer_copies(const Node& node, const Lanes& lanes);
  void push_children(const Node& node, LaneSet lanes);

  const CoverTree& tree_;
  const QueryBatch& batch_;
  std::span<const std::uint32_t> queries_;
  std::span<Candidates> found_;
  double absolute_[kGroupQueries] = {};  // error of a computed squared distance
  const Node* homes_[kGroupQueries] = {};
  std::vector<Entry> stack_;
};

CoverTree::GroupSearch::GroupSearch(const CoverTree& tree, const QueryBatch& batch,
                                    std::span<const std::uint32_t> queries,
                                    std::span<Candidates> found)
    : tree_(tree), batch_(batch), queries_(queries), found_(found) {
  for (std::size_t lane = 0; lane < queries.size(); ++lane) {
    const double self = batch.self.empty() ? 0.0 : static_cast<double>(batch.self[queries[lane]]);
    absolute_[lane] =
        tree.space().absolute_error() * std::max(tree.largest_self_, self) + kSmallestDistance;
  }
}

CoverTree::GroupSearch::Lanes CoverTree::GroupSearch::chosen(LaneSet lanes) const {
  Lanes result;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = std::countr_zero(lanes);
    const std::uint32_t query = queries_[usize(lane)];
    result.lane[result.count] = lane;
    result.rows[result.count] = batch_.rows[query];
    result.self[result.count] = batch_.self.empty() ? 0.0F : batch_.self[query];
    ++result.count;
  }
  return result;
}

// Below every squared distance that can be computed between the lane's row and a row of a ball.
float CoverTree::GroupSearch::lower_bound(Index lane, float squared_distance, double radius) const {
  const double relative = tree_.space().relative_error();
  const double finite =
      static_cast<double>(std::min(squared_distance, std::numeric_limits<float>::max()));
  const double to_centre = finite * (1 - relative) - absolute_[lane];
  if (!(to_centre > radius * radius)) return 0;
  const double gap = std::sqrt(to_centre) - radius;
  const double bound = gap * gap * (1 - relative) - absolute_[lane];
  if (!(bound > 0)) return 0;
  return std::nextafter(static_cast<float>(bound), 0.0F);
}

CoverTree::GroupSearch::LaneSet CoverTree::GroupSearch::lanes_to_enter(const Entry& entry) const {
  const Node& node = tree_.nodes_[usize(entry.node)];
  LaneSet lanes = 0;
  for (std::size_t lane = 0; lane < queries_.size(); ++lane) {
    if (entry.bounds[lane] > found_[lane].limit()) continue;
    const Node* home = homes_[lane];
    const bool seen = home != nullptr && node.begin >= home->begin && node.end <= home->end;
    const bool loses_tie = neighbor_key(entry.bounds[lane], node.min_row) > found_[lane].bound();
    if (!seen && !loses_tie) lanes |= 1U << lane;
  }
  return lanes;
}

// Copies have one distance; the lowest row numbers come first.
void CoverTree::GroupSearch::offer_copies(const Node& node, const Lanes& lanes) {
  const Index first = node.begin / kPanel * kPanel;
  alignas(64) float values[kGroupQueries * kPanel];
  tree_.points_->evaluate(batch_.matrix, lanes.row_span(), lanes.self_span(), first, node.begin + 1,
                          values, kPanel);
  for (Index i = 0; i < lanes.count; ++i) {
    Candidates& found = found_[usize(lanes.lane[i])];
    const float distance = values[i * kPanel + node.begin - first];
    if (distance > found.limit()) continue;
    const Index most = std::min(node.end - node.begin, found.k());
    NeighborKey* keys = found.reserve(most);
    Index written = 0;
    for (; written < most; ++written) {
      keys[written] = neighbor_key(distance, tree_.rows_[usize(node.begin + written)]);
      if (keys[written] > found.bound()) break;
    }
    found.commit(written);
  }
}

void CoverTree::GroupSearch::scan(const Node& node, LaneSet set) {
  const Lanes lanes = chosen(set);
  if (node.equal_rows) return offer_copies(node, lanes);
  alignas(64) float values[kGroupQueries * kStripRows + kPanel];
  for (Index begin = node.begin; begin < node.end;) {
    batch_.poll();
    const Index first = begin / kPanel * kPanel;
    const Index end = std::min(first + kStripRows, node.end);
    tree_.points_->evaluate(batch_.matrix, lanes.row_span(), lanes.self_span(), first, end, values,
                            kStripRows);
    for (Index i = 0; i < lanes.count; ++i) {
      Candidates& found = found_[usize(lanes.lane[i])];
      found.commit(simd::collect_keys(values + i * kStripRows + begin - first, end - begin,
                                      found.limit(), tree_.rows_.data() + begin, 0,
                                      found.reserve(end - begin)));
    }
    begin = end;
  }
}

// A lane's home is the smallest node with k rows on the way to its home leaf.
void CoverTree::GroupSearch::visit_homes(Index k) {
  for (std::size_t lane = 0; lane < queries_.size(); ++lane) {
    Index node = tree_.home_leaf(batch_, queries_[lane]);
    while (tree_.nodes_[usize(node)].end - tree_.nodes_[usize(node)].begin < k)
      node = tree_.parents_[usize(node)];
    homes_[lane] = &tree_.nodes_[usize(node)];
  }
  for (std::size_t lane = 0; lane < queries_.size();) {
    const Node* home = homes_[lane];
    LaneSet together = 0;
    for (; lane < queries_.size() && homes_[lane] == home; ++lane) together |= 1U << lane;
    scan(*home, together);
  }
}

void CoverTree::GroupSearch::push_children(const Node& node, LaneSet set) {
  const Lanes lanes = chosen(set);
  constexpr Index kStride = Builder::kMostChildren;
  alignas(64) float values[kGroupQueries * kStride];
  tree_.centres_->evaluate(batch_.matrix, lanes.row_span(), lanes.self_span(), node.first_centre,
                           node.first_centre + node.num_children, values, kStride);
  const std::size_t first = stack_.size();
  for (Index child = 0; child < node.num_children; ++child) {
    Entry entry{.node = node.first_child + child,
                .nearest = std::numeric_limits<float>::infinity(),
                .bounds = {}};
    std::fill_n(entry.bounds, kGroupQueries, std::numeric_limits<float>::infinity());
    for (Index i = 0; i < lanes.count; ++i) {
      const float distance = values[i * kStride + child];
      const Index lane = lanes.lane[i];
      entry.bounds[lane] = lower_bound(lane, distance, tree_.nodes_[usize(entry.node)].radius);
      entry.nearest = std::min(entry.nearest, distance);
    }
    stack_.push_back(entry);
  }
  // The nearest on top.
  std::sort(stack_.begin() + static_cast<Index>(first), stack_.end(),
            [](const Entry& a, const Entry& b) { return a.nearest > b.nearest; });
}

void CoverTree::GroupSearch::visit_rest() {
  Entry root;
  std::fill_n(root.bounds, kGroupQueries, 0.0F);
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Entry entry = stack_.back();
    stack_.pop_back();
    const LaneSet lanes = lanes_to_enter(entry);
    if (lanes == 0) continue;
    const Node& node = tree_.nodes_[usize(entry.node)];
    if (node.num_children == 0) {
      scan(node, lanes);
    } else {
      batch_.poll();
      push_children(node, lanes);
    }
  }
}

void CoverTree::search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
                       std::span<Candidates> found) const {
  GroupSearch search(*this, batch, queries, found);
  if (found[0].k() < num_points()) search.visit_homes(found[0].k());
  search.visit_rest();
}

}  // namespace tamis

#include "neighbors/cover_tree_builder.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kLeafRows = 64;
constexpr Index kStripOfCell = 1024;  // rows evaluated at once
constexpr Index kDivideInParallel = 1 << 13;

}  // namespace

CoverTree::Builder::Builder(CoverTree& tree, const RunControl& control)
    : tree_(tree), space_(tree.space()), control_(control) {}

void CoverTree::Builder::poll() const {
  if (control_.cancelled()) throw Cancelled();
}

void CoverTree::Builder::run() {
  const Index n = space_.points().rows();
  rows_.resize(usize(n));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = static_cast<std::uint32_t>(i);
  distances_.resize(usize(n));
  owners_.resize(usize(n));
  moved_rows_.resize(usize(n));
  moved_distances_.resize(usize(n));
  Cell root;
  root.end = n;
  const std::vector<float> around = distances_from(space_, root.centre, control_);
  root.squared_radius = *std::max_element(around.begin(), around.end());
  divide(root);
  lay_out(root);
}

// Gives the rows of a cell that are nearer to `row` than to their owner to the new centre, and
// returns the row that is now farthest from its owner, of several the lowest. `packed` holds the
// cell's rows in order.
CoverTree::Builder::Farthest CoverTree::Builder::take_centre(const Cell& cell,
                                                             const Distances& packed,
                                                             std::uint32_t row, Index number) {
  const std::vector<Index> query{row};
  const std::vector<float> self = space_.self_values(space_.points(), query);
  const Index strips = round_up(cell.size(), kStripOfCell) / kStripOfCell;
  std::vector<Farthest> farthest(usize(strips));
  parallel_ranges(strips, 4, [&](Index first, Index last) {
    alignas(64) float values[kStripOfCell];
    for (Index strip = first; strip < last; ++strip) {
      poll();
      const Index begin = strip * kStripOfCell;
      const Index end = std::min(begin + kStripOfCell, cell.size());
      packed.evaluate(space_.points(), query, self, begin, end, values, kStripOfCell);
      Farthest& far = farthest[usize(strip)];
      for (Index i = begin; i < end; ++i) {
        const auto at = usize(cell.begin + i);
        if (values[i - begin] < distances_[at] || number == 0) {
          distances_[at] = values[i - begin];
          owners_[at] = static_cast<std::uint8_t>(number);
        }
        if (distances_[at] > far.squared_distance) far = {distances_[at], rows_[at]};
      }
    }
  });
  return *std::max_element(farthest.begin(), farthest.end(),
                           [](const Farthest& a, const Farthest& b) {
                             return a.squared_distance < b.squared_distance ||
                                    (a.squared_distance == b.squared_distance && a.row > b.row);
                           });
}

void CoverTree::Builder::divide(Cell& cell) {
  poll();
  if (cell.whole || cell.size() <= kLeafRows || cell.squared_radius == 0) return;
  // Distances that overflow say nothing of who is near: any part would be as large again.
  if (!std::isfinite(cell.squared_radius)) return;
  const float target = cell.squared_radius / 4;
  std::vector<std::uint32_t> centres{cell.centre};
  {
    const std::vector<Index> order(rows_.begin() + cell.begin, rows_.begin() + cell.end);
    const Distances packed(space_, order);
    Farthest far = take_centre(cell, packed, cell.centre, 0);
    while (far.squared_distance > target && static_cast<Index>(centres.size()) < kMostChildren) {
      centres.push_back(far.row);
      far = take_centre(cell, packed, far.row, static_cast<Index>(centres.size()) - 1);
    }
  }
  sort_by_owner(cell, centres);
  // Without this, rows that are all equally far apart would lose a few at a time.
  for (Cell& child : cell.children)
    child.whole = child.squared_radius > target && child.size() > cell.size() / 4 * 3;
  const auto divide_child = [&](Index i) { divide(cell.children[usize(i)]); };
  const auto count = static_cast<Index>(cell.children.size());
  if (cell.size() > kDivideInParallel) {
    parallel_each(count, divide_child);
  } else {
    for (Index i = 0; i < count; ++i) divide_child(i);
  }
}

// Makes the children: rows of an owner side by side, still ascending.
void CoverTree::Builder::sort_by_owner(Cell& cell, std::span<const std::uint32_t> centres) {
  Index places[kMostChildren + 1] = {};
  for (Index i = cell.begin; i < cell.end; ++i) ++places[owners_[usize(i)] + 1];
  places[0] = cell.begin;
  for (std::size_t c = 0; c < centres.size(); ++c) {
    places[c + 1] += places[c];
    Cell& child = cell.children.emplace_back();
    child.centre = centres[c];
    child.begin = places[c];
    child.end = places[c + 1];
  }
  for (Index i = cell.begin; i < cell.end; ++i) {
    const std::uint8_t owner = owners_[usize(i)];
    const Index to = places[owner]++;
    moved_rows_[usize(to)] = rows_[usize(i)];
    moved_distances_[usize(to)] = distances_[usize(i)];
    Cell& child = cell.children[owner];
    child.squared_radius = std::max(child.squared_radius, distances_[usize(i)]);
  }
  std::copy(moved_rows_.begin() + cell.begin, moved_rows_.begin() + cell.end,
            rows_.begin() + cell.begin);
  std::copy(moved_distances_.begin() + cell.begin, moved_distances_.begin() + cell.end,
            distances_.begin() + cell.begin);
  // A centre whose rows all went to copies of it elsewhere has none left.
  std::erase_if(cell.children, [](const Cell& child) { return child.size() == 0; });
}

bool CoverTree::Builder::rows_equal(const Cell& cell) const {
  if (cell.squared_radius != 0) return false;
  const Matrix& points = space_.points();
  for (Index i = cell.begin; i < cell.end; ++i) {
    const Index row = rows_[usize(i)];
    if (points.is_sparse()) {
      const SparseRow a = points.sparse_row(cell.centre);
      const SparseRow b = points.sparse_row(row);
      if (!std::ranges::equal(a.columns, b.columns) || !std::ranges::equal(a.values, b.values))
        return false;
    } else if (!std::ranges::equal(points.dense_row(cell.centre), points.dense_row(row))) {
      return false;
    }
  }
  return true;
}

void CoverTree::Builder::lay_out(const Cell& root) {
  const double relative = space_.relative_error();
  const double absolute = space_.absolute_error() * tree_.largest_self_ + kSmallestDistance;
  std::vector<Index> centres;
  std::vector<const Cell*> cells{&root};
  tree_.parents_.assign(1, 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = *cells[i];
    Node node;
    node.begin = cell.begin;
    node.end = cell.end;
    node.radius = std::sqrt(static_cast<double>(cell.squared_radius) * (1 + relative) + absolute);
    node.min_row = rows_[usize(cell.begin)];
    node.equal_rows = rows_equal(cell);
    node.first_child = static_cast<Index>(cells.size());
    node.num_children = static_cast<Index>(cell.children.size());
    node.first_centre = static_cast<Index>(centres.size());
    for (const Cell& child : cell.children) {
      cells.push_back(&child);
      tree_.parents_.push_back(static_cast<Index>(i));
      centres.push_back(child.centre);
    }
    while (centres.size() % usize(kPanel) != 0) centres.push_back(centres.back());
    tree_.nodes_.push_back(node);
  }
  const std::vector<Index> order(rows_.begin(), rows_.end());
  tree_.points_ = std::make_unique<Distances>(space_, order);
  if (!centres.empty()) tree_.centres_ = std::make_unique<Distances>(space_, centres);
  tree_.rows_ = std::move(rows_);
}

}  // namespace tamis

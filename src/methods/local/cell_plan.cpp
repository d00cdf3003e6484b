#include "methods/local/cell_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "neighbors/neighbor_index.hpp"
#include "svm/row_order.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kSampleOfCell = 2048;
constexpr Index kLeastSample = 65536;
constexpr Index kMostSampleBytes = Index{256} << 20;

// Of the sample rows of a cell, whose distances to their neighbors say how wide its halo must be.
constexpr std::size_t kAskedOfCell = 256;
constexpr double kWidthQuantile = 0.98;
// The halo has at most as many rows as the cell.
constexpr double kMostHalo = 1.0;

// Even the rows at the border would be too many.
constexpr double kNoHalo = -1;

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

// The place in [0, 1] of sorted values.
double quantile_of(std::vector<double> values, double place) {
  const auto at = static_cast<std::size_t>(place * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

Index cell_sample_rows(Index rows, Index cols, Index cells) {
  const Index most = std::max(kSampleOfCell, kMostSampleBytes / (4 * std::max<Index>(1, cols)));
  return std::min({rows, most, std::max(kLeastSample, checked_product(cells, kSampleOfCell))});
}

CellPlan::CellPlan() : nodes_{Node{.cell = 0}}, cells_(1) {}

CellPlan::CellPlan(const Matrix& sample, Index rows, Index cells, Index k,
                   const RunControl& control) {
  std::vector<Index> all(usize(sample.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  split(sample, all, cells, {});
  if (size() > 1) set_widths(sample, rows, k, control);
  sample_rows_.clear();
}

void CellPlan::split(const Matrix& sample, std::span<Index> rows, Index cells,
                     std::vector<CellBox::Face> faces) {
  const std::size_t self = nodes_.size();
  nodes_.emplace_back();
  const auto count = static_cast<Index>(rows.size());
  const Index column = cells > 1 && count > 1 ? widest_column(sample, rows) : -1;
  const auto value = [&](Index row) { return sample.at(row, column); };
  if (column >= 0)
    std::sort(rows.begin(), rows.end(),
              [&](Index a, Index b) { return value(a) != value(b) ? value(a) < value(b) : a < b; });
  // By rounding, the variance of equal values may be above 0.
  if (column < 0 || value(rows.front()) == value(rows.back())) {
    nodes_[self].cell = size();
    cells_.push_back({std::move(faces), 0});
    sample_rows_.emplace_back(rows.begin(), rows.end());
    return;
  }
  // At a value that some rows are below: the one wanted, or the next above it.
  auto middle = rows.begin() + count * (cells / 2) / cells;
  middle = std::lower_bound(rows.begin(), rows.end(), value(*middle),
                            [&](Index row, float v) { return value(row) < v; });
  if (middle == rows.begin())
    middle = std::upper_bound(rows.begin(), rows.end(), value(rows[0]),
                              [&](float v, Index row) { return v < value(row); });
  const float threshold = value(*middle);
  const auto left = static_cast<Index>(middle - rows.begin());
  const Index left_cells = std::clamp<Index>(
      static_cast<Index>(std::lround(static_cast<double>(cells) * static_cast<double>(left) /
                                     static_cast<double>(count))),
      1, cells - 1);
  auto face = std::find_if(faces.begin(), faces.end(),
                           [&](const CellBox::Face& one) { return one.column == column; });
  if (face == faces.end()) face = faces.insert(face, {column, -kUnbounded, kUnbounded});
  std::vector<CellBox::Face> of_right = faces;
  of_right[static_cast<std::size_t>(face - faces.begin())].lower = threshold;
  face->upper = threshold;
  nodes_[self].column = column;
  nodes_[self].threshold = threshold;
  split(sample, rows.first(usize(left)), left_cells, std::move(faces));
  nodes_[self].right = static_cast<Index>(nodes_.size());
  split(sample, rows.subspan(usize(left)), cells - left_cells, std::move(of_right));
}

// Wide enough for the k nearest rows of nearly all rows of the cell, judged by fewer neighbors in
// the sample: of e expected ones, up to e + sqrt(e) + 1.
void CellPlan::set_widths(const Matrix& sample, Index rows, Index k, const RunControl& control) {
  const double expected =
      static_cast<double>(k) * static_cast<double>(sample.rows()) / static_cast<double>(rows);
  const auto in_sample =
      std::min(sample.rows(), static_cast<Index>(std::ceil(expected + std::sqrt(expected) + 1)));
  std::vector<Index> asked;
  std::vector<std::size_t> begin{0};
  for (const std::vector<Index>& own : sample_rows_) {
    const std::size_t some = std::min(kAskedOfCell, own.size());
    for (std::size_t i = 0; i < some; ++i) asked.push_back(own[i * own.size() / some]);
    begin.push_back(asked.size());
  }
  const auto index =
      make_neighbor_index(sample, Metric{}, Structure::automatic, quiet(control), in_sample);
  const Neighbors nearest = index->nearest(sample, asked, in_sample, quiet(control));
  parallel_each(size(), [&](Index c) {
    if (control.cancelled()) return;
    std::vector<double> radii;
    for (std::size_t q = begin[usize(c)]; q < begin[usize(c) + 1]; ++q)
      radii.push_back(
          std::sqrt(static_cast<double>(nearest.distances_of(static_cast<Index>(q)).back())));
    const std::vector<Index>& own = sample_rows_[usize(c)];
    std::vector<double> outside;
    for (std::size_t other = 0; other < sample_rows_.size(); ++other) {
      if (other == usize(c)) continue;
      for (const Index row : sample_rows_[other])
        outside.push_back(std::sqrt(cells_[usize(c)].squared_distance(sample, row)));
    }
    const auto most = static_cast<std::size_t>(
        kMostHalo * static_cast<double>(std::max<std::size_t>(1, own.size())));
    double width = radii.empty() ? 0 : quantile_of(std::move(radii), kWidthQuantile);
    if (outside.size() > most) {
      // The farthest row that is closer than the first one too many; rows may be equally far.
      const auto limit = outside.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(outside.begin(), limit, outside.end());
      double widest = kNoHalo;
      for (auto one = outside.begin(); one != limit; ++one) {
        if (*one < *limit) widest = std::max(widest, *one);
      }
      width = std::min(width, widest);
    }
    cells_[usize(c)].width = width;
  });
  if (control.cancelled()) throw Cancelled();
  // Children come after their parents.
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    Node& node = nodes_[n];
    node.width = node.column < 0 ? cells_[usize(node.cell)].width
                                 : std::max(nodes_[n + 1].width, nodes_[usize(node.right)].width);
  }
}

Index CellPlan::cell_of(const Matrix& features, Index row) const {
  std::size_t at = 0;
  while (nodes_[at].column >= 0) {
    const Node& node = nodes_[at];
    at = features.at(row, node.column) < node.threshold ? at + 1 : usize(node.right);
  }
  return nodes_[at].cell;
}

double CellBox::squared_distance(const Matrix& features, Index row) const {
  double sum = 0;
  for (const Face& face : faces) {
    const float value = features.at(row, face.column);
    const double beyond =
        value < face.lower    ? static_cast<double>(face.lower) - static_cast<double>(value)
        : value >= face.upper ? static_cast<double>(value) - static_cast<double>(face.upper)
                              : 0.0;
    sum += beyond * beyond;
  }
  return sum;
}

void CellPlan::append_halos(const Matrix& features, Index row, Index own,
                            std::vector<Index>* cells) const {
  // Few: the depth of the tree, and a second way at each level.
  std::vector<std::size_t> open{0};
  while (!open.empty()) {
    const std::size_t at = open.back();
    const Node& node = nodes_[at];
    open.pop_back();
    if (node.column < 0) {
      const CellBox& cell = cells_[usize(node.cell)];
      if (node.cell != own && cell.width >= 0 &&
          cell.squared_distance(features, row) <= cell.width * cell.width)
        cells->push_back(node.cell);
      continue;
    }
    // How far beyond the threshold the row is: on the right side if positive.
    const double beyond =
        static_cast<double>(features.at(row, node.column)) - static_cast<double>(node.threshold);
    if (-beyond <= nodes_[usize(node.right)].width) open.push_back(usize(node.right));
    if (beyond <= nodes_[at + 1].width) open.push_back(at + 1);
  }
}

double CellBox::safe_distance(const Matrix& features, Index row) const {
  double margin = std::numeric_limits<double>::infinity();
  for (const Face& face : faces) {
    const auto value = static_cast<double>(features.at(row, face.column));
    margin = std::min(
        {margin, value - static_cast<double>(face.lower), static_cast<double>(face.upper) - value});
  }
  return width >= 0 ? width + margin : std::nextafter(margin, 0.0);
}

}  // namespace tamis

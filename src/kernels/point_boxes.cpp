#include "kernels/point_boxes.hpp"

#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "kernels/simd/tiles.hpp"

namespace tamis {
namespace {

static_assert(kBoxPanel == simd::kLanes);

constexpr float kNowhere = 1e15F;  // an edge of a box that does not exist; its square is finite

}  // namespace

PointBoxes::PointBoxes(const Matrix& points, std::span<const Index> rows, Index run)
    : size_((static_cast<Index>(rows.size()) + run - 1) / run), cols_(points.cols()) {
  const Index panel_floats = checked_product(2 * kBoxPanel, cols_);
  edges_ = allocate_floats(checked_product(num_panels(), panel_floats));
  std::fill_n(edges_.get(), num_panels() * panel_floats, kNowhere);
  // A task for each panel: boxes of one panel share cache lines.
  parallel_each(num_panels(), [&](Index panel) {
    std::vector<float> values(usize(cols_));
    std::vector<float> low(usize(cols_));
    std::vector<float> high(usize(cols_));
    for (Index box = panel * kBoxPanel; box < std::min(size_, (panel + 1) * kBoxPanel); ++box) {
      const Index end = std::min((box + 1) * run, static_cast<Index>(rows.size()));
      points.copy_row(rows[usize(box * run)], low);
      high = low;
      for (Index p = box * run + 1; p < end; ++p) {
        points.copy_row(rows[usize(p)], values);
        for (std::size_t j = 0; j < values.size(); ++j) {
          low[j] = std::min(low[j], values[j]);
          high[j] = std::max(high[j], values[j]);
        }
      }
      float* lower = edges_.get() + panel * panel_floats + box % kBoxPanel;
      for (Index j = 0; j < cols_; ++j) {
        lower[j * 2 * kBoxPanel] = low[usize(j)];
        lower[j * 2 * kBoxPanel + kBoxPanel] = high[usize(j)];
      }
    }
  });
  if (!points.is_sparse()) return;
  from_zero_ = allocate_floats(num_panels() * kBoxPanel);
  const std::vector<float> zeros(usize(cols_), 0.0F);
  for (Index p = 0; p < num_panels(); ++p) {
    simd::box_distances(zeros.data(), cols_, edges_.get() + p * panel_floats,
                        from_zero_.get() + p * kBoxPanel);
  }
}

void PointBoxes::squared_distances(const Matrix& queries, Index row, Index panel,
                                   float* out) const {
  const float* edges = edges_.get() + panel * 2 * kBoxPanel * cols_;
  if (!queries.is_sparse()) {
    simd::box_distances(queries.dense_row(row).data(), cols_, edges, out);
    return;
  }
  const SparseRow x = queries.sparse_row(row);
  const simd::SparseQuery query{x.columns.data(), x.values.data(),
                                static_cast<Index>(x.columns.size())};
  simd::sparse_box_distances(query, edges, from_zero_.get() + panel * kBoxPanel, out);
}

}  // namespace tamis

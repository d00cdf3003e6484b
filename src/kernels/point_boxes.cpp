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
  parallel_each(size_, [&](Index box) {
    float* lower = edges_.get() + box / kBoxPanel * panel_floats + box % kBoxPanel;
    float* upper = lower + kBoxPanel;
    std::vector<float> values(usize(cols_));
    const Index end = std::min((box + 1) * run, static_cast<Index>(rows.size()));
    for (Index p = box * run; p < end; ++p) {
      points.copy_row(rows[usize(p)], values);
      for (Index j = 0; j < cols_; ++j) {
        const float value = values[usize(j)];
        float& low = lower[j * 2 * kBoxPanel];
        float& high = upper[j * 2 * kBoxPanel];
        low = p == box * run ? value : std::min(low, value);
        high = p == box * run ? value : std::max(high, value);
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

// Distances from boxes are lower bounds, and tight where the row is the nearest corner's.
#include "kernels/point_boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/checked.hpp"
#include "support/naive_qp.hpp"

namespace tamis::testing {
namespace {

double distance_from_box(const Matrix& points, std::span<const Index> rows, const Matrix& queries,
                         Index query) {
  double sum = 0;
  for (Index j = 0; j < points.cols(); ++j) {
    float low = points.at(rows[0], j);
    float high = low;
    for (const Index row : rows) {
      low = std::min(low, points.at(row, j));
      high = std::max(high, points.at(row, j));
    }
    const float x = queries.at(query, j);
    const double outside = std::max({0.0F, low - x, x - high});
    sum += outside * outside;
  }
  return sum;
}

void check(const Matrix& points, const Matrix& queries, double offset) {
  std::vector<Index> rows;
  for (Index i = points.rows() - 1; i >= 0; i -= 2) rows.push_back(i);
  for (const Index run : {1, 3, 16, 1000}) {
    const PointBoxes boxes(points, rows, run);
    ASSERT_EQ(boxes.size(), (static_cast<Index>(rows.size()) + run - 1) / run);
    for (Index q = 0; q < queries.rows(); ++q) {
      for (Index panel = 0; panel < boxes.num_panels(); ++panel) {
        float got[kBoxPanel];
        boxes.squared_distances(queries, q, panel, got);
        for (Index l = 0; l < kBoxPanel; ++l) {
          const Index box = panel * kBoxPanel + l;
          if (box >= boxes.size()) {
            ASSERT_GT(got[l], 1e20F);
            continue;
          }
          const auto begin = usize(box * run);
          const auto count = std::min(usize(run), rows.size() - begin);
          const double expected =
              distance_from_box(points, std::span(rows).subspan(begin, count), queries, q);
          ASSERT_NEAR(got[l], expected, 1e-5 * (expected + offset));
        }
      }
    }
  }
}

TEST(PointBoxes, DistancesAreThoseOfTheNearestEdges) {
  check(random_matrix(150, 5, 1), random_matrix(20, 5, 2), 1);
  check(random_matrix(150, 1, 3), random_matrix(20, 1, 4), 1);
  check(random_matrix(150, 30, 5, 0.2).to_sparse(), random_matrix(20, 30, 6, 0.2).to_sparse(), 60);
}

// Far from zero, differences of large squares must not make a near box look far.
TEST(PointBoxes, SparseRowsFarFromZeroStayNear) {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 8; ++j) values.push_back(10000.0F + static_cast<float>(i % 3));
  }
  const Matrix points = Matrix::dense(64, 8, std::move(values)).to_sparse();
  const PointBoxes boxes(points, iota_rows(64), 16);
  for (Index i = 0; i < 64; ++i) {
    float got[kBoxPanel];
    boxes.squared_distances(points, i, 0, got);
    for (Index box = 0; box < boxes.size(); ++box) EXPECT_LE(got[box], 0.0F);
  }
}

}  // namespace
}  // namespace tamis::testing

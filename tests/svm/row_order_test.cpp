// Orders of rows that depend on what the rows hold alone.
#include "svm/row_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "support/naive_qp.hpp"

namespace tamis::testing {
namespace {

BinaryTask some_task(Index rows) {
  BinaryTask task;
  for (Index i = 0; i < rows; ++i) {
    task.rows.push_back(i);
    task.targets.push_back(i % 3 == 0 ? 1 : -1);
  }
  return task;
}

// The sum over runs of 64 rows of the area of their bounding box, in the plane.
double total_area(const Matrix& points, const BinaryTask& task) {
  double area = 0;
  for (std::size_t begin = 0; begin < task.rows.size(); begin += 64) {
    double sides = 1;
    for (Index j = 0; j < 2; ++j) {
      double low = 1e9;
      double high = -1e9;
      for (std::size_t k = begin; k < std::min(begin + 64, task.rows.size()); ++k) {
        low = std::min(low, static_cast<double>(points.at(task.rows[k], j)));
        high = std::max(high, static_cast<double>(points.at(task.rows[k], j)));
      }
      sides *= high - low;
    }
    area += sides;
  }
  return area;
}

TEST(RowOrder, NearRowsComeTogether) {
  const Matrix points = random_matrix(5000, 2, 1);
  const BinaryTask given = some_task(5000);
  for (const Matrix& data : {points, points.to_sparse()}) {
    const BinaryTask ordered = near_rows_together(data, given);
    EXPECT_EQ(std::set<Index>(ordered.rows.begin(), ordered.rows.end()).size(), 5000U);
    for (std::size_t k = 0; k < ordered.rows.size(); ++k)
      ASSERT_EQ(ordered.targets[k], given.targets[usize(ordered.rows[k])]);
    EXPECT_LT(total_area(data, ordered), total_area(data, given) / 20);
  }
}

// Of 1000 rows, 3 in 10 have the first flag and 1 in 10 the second: each kind of row is one run.
TEST(RowOrder, RowsWithAFlagAreNotMixedWithOthers) {
  Random random(1);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(random.below(10) < 3 ? 1.0F : 0.0F);
    values.push_back(random.below(10) < 1 ? 1.0F : 0.0F);
    values.push_back(0.5F * static_cast<float>(random.uniform()));
  }
  const Matrix points = Matrix::dense(1000, 3, std::move(values));
  const BinaryTask ordered = near_rows_together(points, some_task(1000));
  const auto flags = [&](std::size_t k) {
    return std::pair(points.at(ordered.rows[k], 0), points.at(ordered.rows[k], 1));
  };
  std::size_t changes = 0;
  for (std::size_t k = 1; k < ordered.rows.size(); ++k) changes += flags(k) != flags(k - 1) ? 1 : 0;
  EXPECT_EQ(changes, 3U);
}

TEST(RowOrder, EqualRowsStayAsTheyAre) {
  const Matrix points = Matrix::dense(1000, 1, std::vector<float>(1000, 2.5F));
  const BinaryTask given = some_task(1000);
  EXPECT_EQ(near_rows_together(points, given).rows, given.rows);
}

TEST(RowOrder, ShuffledRowsGetTheSameOrder) {
  const Matrix points = random_matrix(3000, 4, 2);
  const std::vector<double> cost(3000, 1.0);
  const BinaryTask given = some_task(3000);
  Random random(3);
  std::vector<std::size_t> places(3000);
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = k;
  for (std::size_t k = places.size() - 1; k > 0; --k)
    std::swap(places[k], places[usize(random.below(static_cast<Index>(k) + 1))]);
  BinaryTask shuffled;
  for (const std::size_t place : places) {
    shuffled.rows.push_back(given.rows[place]);
    shuffled.targets.push_back(given.targets[place]);
  }
  const BinaryTask one = near_rows_together(points, ordered_by_content(points, cost, given));
  const BinaryTask other = near_rows_together(points, ordered_by_content(points, cost, shuffled));
  EXPECT_EQ(one.rows, other.rows);
  EXPECT_EQ(one.targets, other.targets);
}

}  // namespace
}  // namespace tamis::testing

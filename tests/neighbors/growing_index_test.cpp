#include "neighbors/growing_index.hpp"

#include <gtest/gtest.h>

#include "neighbors/naive_neighbors.hpp"

namespace tamis {
namespace {

using testing::grid_rows;
using testing::naive_distances;
using testing::random_rows;

// Inserts rows one by one and asks after each.
void expect_naive_answers(const Metric& metric, const Matrix& rows, double squared_radius) {
  GrowingIndex index(rows, metric);
  const float limit = Space(metric, rows).internal_limit(squared_radius);
  Index yes = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto distances = naive_distances(metric, rows, rows, i);
    const bool near =
        std::any_of(distances.begin(), distances.begin() + i, [&](float d) { return d <= limit; });
    ASSERT_EQ(index.any_within(i, squared_radius), near) << "row " << i;
    yes += near ? 1 : 0;
    index.insert(i);
    ASSERT_EQ(index.size(), i + 1);
  }
  EXPECT_GT(yes, 0);
  EXPECT_LT(yes, rows.rows());
}

TEST(GrowingIndex, AnswersLikeANaiveScan) {
  expect_naive_answers({}, random_rows(700, 2, 1, 1), 0.01);
  expect_naive_answers({}, random_rows(700, 20, 1, 2), 14.0);
  expect_naive_answers({}, random_rows(600, 100, 0.1, 3).to_sparse(), 9.0);
  expect_naive_answers({}, grid_rows(600, 3, 12, 4), 0.0);
  expect_naive_answers({Kernel{.type = KernelType::rbf, .gamma = 0.5}}, random_rows(600, 3, 1, 5),
                       0.1);
  expect_naive_answers(
      {Kernel{.type = KernelType::polynomial, .gamma = 0.5, .coef0 = 1, .degree = 2}},
      random_rows(600, 3, 1, 6), 0.2);
}

TEST(GrowingIndex, MovesOldRowsIntoTrees) {
  const Matrix rows = random_rows(9000, 2, 1, 7);
  const auto all = make_neighbor_index(rows, {}, Structure::brute_force);
  GrowingIndex index(rows, {});
  for (Index i = 0; i < 8000; ++i) index.insert(i);
  std::vector<Index> old(8000);
  std::iota(old.begin(), old.end(), Index{0});
  const Matrix inserted = rows.select(old);
  const auto expected = make_neighbor_index(inserted, {}, Structure::brute_force);
  Index yes = 0;
  for (Index i = 8000; i < 9000; ++i) {
    const bool near = !expected->within(rows, std::vector<Index>{i}, 2e-4).rows.empty();
    EXPECT_EQ(index.any_within(i, 2e-4), near);
    yes += near ? 1 : 0;
  }
  EXPECT_GT(yes, 100);
  EXPECT_LT(yes, 900);
}

TEST(GrowingIndex, AnEmptyIndexHasNothingNear) {
  const GrowingIndex index(random_rows(3, 2, 1, 8), {});
  EXPECT_FALSE(index.any_within(0, 1e30));
}

}  // namespace
}  // namespace tamis

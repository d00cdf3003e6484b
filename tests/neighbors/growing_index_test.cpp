#include "neighbors/growing_index.hpp"

#include <gtest/gtest.h>

#include "neighbors/naive_neighbors.hpp"

namespace tamis {
namespace {

using testing::grid_rows;
using testing::naive_distances;
using testing::random_rows;

std::vector<Index> numbers(Index begin, Index end) {
  std::vector<Index> rows(usize(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

// Inserts rows in blocks and asks for each block before.
void expect_naive_answers(const Metric& metric, const Matrix& rows, double squared_radius,
                          Index block) {
  GrowingIndex index(metric);
  const float limit = Space(metric, rows).internal_limit(squared_radius);
  Index yes = 0;
  for (Index begin = 0; begin < rows.rows(); begin += block) {
    const std::vector<Index> asked = numbers(begin, std::min(begin + block, rows.rows()));
    const auto found = index.any_within(rows, asked, squared_radius);
    ASSERT_EQ(found.size(), asked.size());
    for (const Index i : asked) {
      const auto distances = naive_distances(metric, rows, rows, i);
      const bool near = std::any_of(distances.begin(), distances.begin() + begin,
                                    [&](float d) { return d <= limit; });
      ASSERT_EQ(found[usize(i - begin)], near ? 1 : 0) << "row " << i;
      yes += near ? 1 : 0;
    }
    index.insert(rows.select(asked));
    ASSERT_EQ(index.size(), asked.back() + 1);
  }
  EXPECT_GT(yes, 0);
  EXPECT_LT(yes, rows.rows());
}

TEST(GrowingIndex, AnswersLikeANaiveScan) {
  for (const Index block : {1, 37, 300}) {
    expect_naive_answers({}, random_rows(700, 2, 1, 1), 0.01, block);
    expect_naive_answers({}, random_rows(700, 20, 1, 2), 14.0, block);
    expect_naive_answers({}, random_rows(600, 100, 0.1, 3).to_sparse(), 9.0, block);
    expect_naive_answers({}, grid_rows(600, 3, 12, 4), 0.0, block);
    expect_naive_answers({Kernel{.type = KernelType::rbf, .gamma = 0.5}}, random_rows(600, 3, 1, 5),
                         0.1, block);
    expect_naive_answers(
        {Kernel{.type = KernelType::polynomial, .gamma = 0.5, .coef0 = 1, .degree = 2}},
        random_rows(600, 3, 1, 6), 0.2, block);
  }
}

TEST(GrowingIndex, JoinsPartsIntoTrees) {
  const Matrix rows = random_rows(9000, 2, 1, 7);
  GrowingIndex index({});
  for (Index begin = 0; begin < 8000; begin += 1000)
    index.insert(rows.select(numbers(begin, begin + 1000)));
  const Matrix inserted = rows.select(numbers(0, 8000));
  const auto expected = make_neighbor_index(inserted, {}, Structure::brute_force);
  const std::vector<Index> asked = numbers(8000, 9000);
  const auto found = index.any_within(rows, asked, 2e-4);
  EXPECT_EQ(found, expected->any_within(rows, asked, 2e-4));
  const auto yes = std::count(found.begin(), found.end(), 1);
  EXPECT_GT(yes, 100);
  EXPECT_LT(yes, 900);
}

TEST(GrowingIndex, AnEmptyIndexHasNothingNear) {
  GrowingIndex index({});
  const Matrix rows = random_rows(3, 2, 1, 8);
  EXPECT_EQ(index.any_within(rows, numbers(0, 3), 1e30), std::vector<std::uint8_t>(3, 0));
  index.insert(rows.select(std::vector<Index>{}));
  EXPECT_EQ(index.size(), 0);
}

}  // namespace
}  // namespace tamis

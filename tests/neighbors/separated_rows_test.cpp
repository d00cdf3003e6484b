// The sieve and the coarse-to-fine order against their definitions.
#include "neighbors/separated_rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>

#include "neighbors/naive_neighbors.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using testing::grid_rows;
using testing::naive_distances;
using testing::random_rows;

const Metric kEuclidean{};
const Metric kRbf{Kernel{.type = KernelType::rbf, .gamma = 0.3}};
const Metric kPolynomial{
    Kernel{.type = KernelType::polynomial, .gamma = 0.4, .coef0 = 1, .degree = 3}};

std::vector<Index> counted(Index count) {
  std::vector<Index> rows(usize(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

std::vector<Index> naive_separated(const Metric& metric, const Matrix& points,
                                   std::span<const Index> order, double squared_radius,
                                   std::vector<Index> before = {}) {
  const float limit = Space(metric, points).internal_limit(squared_radius);
  const std::size_t given = before.size();
  std::vector<Index> taken = std::move(before);
  for (const Index row : order) {
    const auto distances = naive_distances(metric, points, points, row);
    const bool near = std::any_of(taken.begin(), taken.end(),
                                  [&](Index other) { return distances[usize(other)] <= limit; });
    if (!near) taken.push_back(row);
  }
  taken.erase(taken.begin(), taken.begin() + static_cast<Index>(given));
  return taken;
}

std::vector<Structure> structures_for(const Metric& metric, const Matrix& points) {
  std::vector<Structure> result{Structure::brute_force, Structure::cover_tree};
  if (Space(metric, points).uses_differences()) result.push_back(Structure::kd_tree);
  return result;
}

TEST(SeparatedRows, AreThoseOfTheNaiveScan) {
  for (const Metric& metric : {kEuclidean, kRbf, kPolynomial}) {
    for (const Matrix& points :
         {random_rows(300, 3, 1, 1), grid_rows(300, 2, 6, 2), random_rows(200, 60, 0.1, 3),
          random_rows(200, 60, 0.1, 3).to_sparse()}) {
      std::vector<Index> order = counted(points.rows());
      Random(4).shuffle(order);
      order.resize(order.size() - 20);
      for (const double squared_radius : {0.0, 0.4, 1.5, 30.0}) {
        const auto naive = naive_separated(metric, points, order, squared_radius);
        for (const Structure structure : structures_for(metric, points)) {
          const auto index = make_neighbor_index(points, metric, structure);
          ASSERT_EQ(separated_rows(*index, order, squared_radius), naive)
              << squared_radius << " structure " << static_cast<int>(structure);
        }
      }
    }
  }
}

// More rows than brute force keeps in one index once many are struck out.
TEST(SeparatedRows, DoNotDependOnTheStructure) {
  const Matrix points = random_rows(30000, 4, 1, 5);
  const auto order = counted(points.rows());
  const auto index = make_neighbor_index(points, kEuclidean, Structure::kd_tree);
  const auto expected = separated_rows(*index, order, 0.5);
  for (const Structure structure : structures_for(kEuclidean, points)) {
    EXPECT_EQ(separated_rows(*make_neighbor_index(points, kEuclidean, structure), order, 0.5),
              expected);
  }
  EXPECT_GT(expected.size(), 1000U);
  EXPECT_LT(expected.size(), 15000U);
}

TEST(SeparatedRows, RefuseRowsOutsideTheIndex) {
  const auto index = make_neighbor_index(random_rows(10, 2, 1, 6), kEuclidean);
  EXPECT_THROW(separated_rows(*index, std::vector<Index>{3, 10}, 1.0), InvalidArgument);
}

struct Levels {
  std::vector<Index> rows;
  std::vector<int> levels;
};

Levels drain(const NeighborIndex& index, Index most_separated) {
  CoarseToFine order(index, most_separated);
  Levels result;
  for (auto rows = order.next(); !rows.empty(); rows = order.next()) {
    for (const Index row : rows) {
      result.rows.push_back(row);
      result.levels.push_back(order.level());
    }
  }
  return result;
}

TEST(CoarseToFine, LevelsAreMaximalSeparatedSets) {
  for (const Metric& metric : {kEuclidean, kPolynomial}) {
    const Matrix points = random_rows(150, 2, 1, 7);
    const auto around = naive_distances(metric, points, points, 0);
    float limit = *std::max_element(around.begin(), around.end());
    std::vector<Index> expected{0};
    std::vector<int> levels{0};
    for (int level = 1; level <= 64 && expected.size() < 150; ++level) {
      limit /= 2;
      std::vector<Index> left;
      for (Index i = 0; i < 150; ++i) {
        if (std::find(expected.begin(), expected.end(), i) == expected.end()) left.push_back(i);
      }
      for (const Index row :
           naive_separated(metric, points, left, static_cast<double>(limit), expected)) {
        expected.push_back(row);
        levels.push_back(level);
      }
    }
    ASSERT_EQ(expected.size(), 150U);
    for (const Structure structure : structures_for(metric, points)) {
      const auto index = make_neighbor_index(points, metric, structure);
      const Levels found = drain(*index, points.rows());
      EXPECT_EQ(found.rows, expected);
      EXPECT_EQ(found.levels, levels);
    }
  }
}

TEST(CoarseToFine, GivesEveryRowOnce) {
  const Matrix equal = Matrix::dense(500, 2, std::vector<float>(1000, 1.5F));
  for (const Matrix& points :
       {random_rows(1, 1, 1, 8), equal, grid_rows(2000, 2, 5, 9), random_rows(3000, 20, 1, 10),
        random_rows(400, 100, 0.05, 11).to_sparse()}) {
    for (const Index most : {Index{0}, points.rows()}) {
      const auto index = make_neighbor_index(points, kEuclidean);
      Levels found = drain(*index, most);
      std::sort(found.rows.begin(), found.rows.end());
      EXPECT_EQ(found.rows, counted(points.rows()));
    }
  }
}

TEST(CoarseToFine, TheRestComesInOrderOfRowNumbers) {
  const Matrix points = random_rows(2000, 2, 1, 12);
  const auto index = make_neighbor_index(points, kEuclidean);
  const Levels found = drain(*index, 100);
  const auto rest = std::find(found.levels.begin(), found.levels.end(), -1);
  const Index separated = rest - found.levels.begin();
  EXPECT_GE(separated, 100);
  EXPECT_LT(separated, 600);
  EXPECT_TRUE(std::is_sorted(found.rows.begin() + separated, found.rows.end()));
}

TEST(CoarseToFine, StopsWhenAsked) {
  const auto index = make_neighbor_index(random_rows(5000, 2, 1, 13), kEuclidean);
  std::atomic<bool> stop = false;
  RunControl control;
  control.cancel = &stop;
  CoarseToFine order(*index, 0, control);
  EXPECT_EQ(order.next(), std::vector<Index>{0});
  stop = true;
  EXPECT_THROW(order.next(), Cancelled);
}

RC_GTEST_PROP(SeparatedRowsProperties, AreThoseOfTheNaiveScan, ()) {
  const Index rows = *rc::gen::inRange<Index>(1, 120);
  const Index cols = *rc::gen::inRange<Index>(1, 6);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000);
  const double squared_radius = *rc::gen::inRange(0, 8) * 0.5;
  const bool grid = *rc::gen::arbitrary<bool>();
  const Matrix points = grid ? grid_rows(rows, cols, 4, seed) : random_rows(rows, cols, 1, seed);
  const auto order = counted(rows);
  const auto naive = naive_separated(kEuclidean, points, order, squared_radius);
  for (const Structure structure : structures_for(kEuclidean, points)) {
    const auto index = make_neighbor_index(points, kEuclidean, structure);
    RC_ASSERT(separated_rows(*index, order, squared_radius) == naive);
  }
}

}  // namespace
}  // namespace tamis

// Every structure against the naive answer, to the last bit.
#include "neighbors/neighbor_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <limits>

#include "base/parallel.hpp"
#include "neighbors/naive_neighbors.hpp"
#include "support/targets.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using testing::grid_rows;
using testing::naive_nearest;
using testing::naive_sorted;
using testing::NaiveAnswer;
using testing::random_rows;

const Metric kEuclidean{};
const Metric kLinear{Kernel{.type = KernelType::linear}};
const Metric kRbf{Kernel{.type = KernelType::rbf, .gamma = 0.3}};
const Metric kPolynomial{
    Kernel{.type = KernelType::polynomial, .gamma = 0.4, .coef0 = 1, .degree = 3}};
const Metric kLaplacian{Kernel{.type = KernelType::laplacian, .gamma = 0.2}};
const Metric kSigmoid{Kernel{.type = KernelType::sigmoid, .gamma = 0.1, .coef0 = -0.2}};

std::vector<Structure> structures_for(const Metric& metric, const Matrix& points) {
  std::vector<Structure> result{Structure::automatic, Structure::brute_force};
  if (Space(metric, points).uses_differences()) result.push_back(Structure::kd_tree);
  if (Space(metric, points).is_metric()) result.push_back(Structure::cover_tree);
  return result;
}

void expect_naive_answers(const Metric& metric, const Matrix& points, const Matrix& queries,
                          Index k) {
  const double middle = [&] {
    const NaiveAnswer first = naive_sorted(metric, points, queries, 0);
    return static_cast<double>(first.squared_distances[first.squared_distances.size() / 3]);
  }();
  for (const Structure structure : structures_for(metric, points)) {
    const auto index = make_neighbor_index(points, metric, structure);
    const Neighbors found = index->nearest(queries, k);
    const Balls balls = index->within(queries, middle);
    ASSERT_EQ(found.per_query, std::min(k, points.rows()));
    ASSERT_EQ(balls.begin.size(), usize(queries.rows() + 1));
    for (Index q = 0; q < queries.rows(); ++q) {
      const NaiveAnswer sorted = naive_sorted(metric, points, queries, q);
      const auto rows = found.rows_of(q);
      const auto distances = found.distances_of(q);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i], sorted.rows[i])
            << "query " << q << " place " << i << " of " << static_cast<int>(structure);
        ASSERT_EQ(distances[i], sorted.squared_distances[i]);
      }
      const auto ball = balls.rows_of(q);
      const float limit = Space(metric, points).internal_limit(middle);
      const auto naive = testing::naive_distances(metric, points, queries, q);
      const auto inside =
          std::count_if(naive.begin(), naive.end(), [&](float d) { return d <= limit; });
      ASSERT_EQ(static_cast<Index>(ball.size()), inside);
      ASSERT_TRUE(std::equal(ball.begin(), ball.end(), sorted.rows.begin()));
    }
  }
}

TEST(NeighborIndex, GivesTheNaiveAnswerInAnyDimension) {
  for (const Index cols : {1, 2, 3, 7, 15, 22, 54, 120, 800}) {
    const Matrix points = random_rows(cols > 100 ? 150 : 700, cols, 1, 1);
    expect_naive_answers(kEuclidean, points, random_rows(20, cols, 1, 2), 17);
  }
}

TEST(NeighborIndex, GivesTheNaiveAnswerForEveryMetric) {
  const Matrix points = random_rows(400, 5, 0.7, 3);
  const Matrix queries = random_rows(20, 5, 0.7, 4);
  for (const Metric& metric : {kEuclidean, kLinear, kRbf, kPolynomial, kSigmoid, kLaplacian})
    expect_naive_answers(metric, points, queries, 40);
}

TEST(NeighborIndex, GivesTheNaiveAnswerForSparseRows) {
  const Matrix points = random_rows(300, 200, 0.05, 5);
  const Matrix queries = random_rows(20, 200, 0.05, 6);
  for (const Metric& metric : {kEuclidean, kRbf, kPolynomial, kLaplacian}) {
    expect_naive_answers(metric, points.to_sparse(), queries.to_sparse(), 12);
    expect_naive_answers(metric, points.to_sparse(), queries, 12);
    expect_naive_answers(metric, points, queries.to_sparse(), 12);
  }
  expect_naive_answers(kEuclidean, grid_rows(300, 6, 3, 7).to_sparse(),
                       grid_rows(10, 6, 3, 8).to_sparse(), 12);
}

TEST(NeighborIndex, BreaksTiesByRowNumber) {
  for (const Index cols : {1, 2, 4}) {
    for (const Metric& metric : {kEuclidean, kPolynomial, kLaplacian})
      expect_naive_answers(metric, grid_rows(900, cols, 4, 9), grid_rows(24, cols, 4, 10), 70);
  }
}

TEST(NeighborIndex, TakesMoreNeighboursThanRows) {
  for (const Index rows : {1, 2, 15, 16, 17, 100}) {
    for (const Metric& metric : {kEuclidean, kPolynomial})
      expect_naive_answers(metric, random_rows(rows, 2, 1, 11), random_rows(5, 2, 1, 12), 130);
  }
}

TEST(NeighborIndex, KeepsTheBestOfThousands) {
  const Matrix points = random_rows(6000, 3, 1, 13);
  expect_naive_answers(kEuclidean, points, random_rows(3, 3, 1, 14), 2000);
}

TEST(NeighborIndex, FindsEqualRowsInOrderOfTheirNumbers) {
  const Matrix points = Matrix::dense(3000, 2, std::vector<float>(6000, 0.25F));
  for (const Metric& metric : {kEuclidean, kPolynomial}) {
    for (const Structure structure : structures_for(metric, points)) {
      const Neighbors found = make_neighbor_index(points, metric, structure)->nearest(points, 5);
      for (Index q = 0; q < points.rows(); ++q) {
        for (Index i = 0; i < 5; ++i) {
          ASSERT_EQ(found.rows_of(q)[usize(i)], i);
          ASSERT_EQ(found.distances_of(q)[usize(i)], 0);
        }
      }
    }
  }
}

TEST(NeighborIndex, HasNoTroubleWithCopiesBesideOtherRows) {
  Matrix points = random_rows(3000, 3, 1, 26);
  std::vector<Index> chosen;
  for (Index i = 0; i < 3000; ++i) chosen.push_back(i % 3 == 0 ? i : i % 2);
  points = points.select(chosen);
  for (const Metric& metric : {kEuclidean, kPolynomial})
    expect_naive_answers(metric, points, random_rows(6, 3, 1, 27), 30);
}

// No three-quarters of them can be told apart by a few centres.
TEST(NeighborIndex, FindsRowsThatAreAllEquallyFarApart) {
  std::vector<Index> begin{0};
  std::vector<std::int32_t> columns;
  for (std::int32_t i = 0; i < 400; ++i) {
    columns.push_back(i);
    begin.push_back(i + 1);
  }
  const Matrix points = Matrix::sparse(400, begin, columns, std::vector<float>(400, 1.0F));
  const std::vector<Index> some{0, 399, 200};
  expect_naive_answers(kEuclidean, points, points.select(some), 3);
}

TEST(NeighborIndex, RowsWithoutColumnsAreAllEqual) {
  const Matrix points = Matrix::dense(20, 0, {});
  for (const Structure structure : structures_for(kEuclidean, points)) {
    const Neighbors found = make_neighbor_index(points, kEuclidean, structure)->nearest(points, 2);
    EXPECT_EQ(found.rows_of(19)[0], 0);
    EXPECT_EQ(found.rows_of(19)[1], 1);
  }
}

TEST(NeighborIndex, AgreesOnEveryInstructionSet) {
  testing::on_each_target([] {
    expect_naive_answers(kEuclidean, random_rows(300, 6, 1, 28), random_rows(5, 6, 1, 29), 20);
    expect_naive_answers(kPolynomial, random_rows(300, 6, 1, 28), random_rows(5, 6, 1, 29), 20);
    expect_naive_answers(kEuclidean, random_rows(200, 90, 0.1, 30).to_sparse(),
                         random_rows(5, 90, 0.1, 31).to_sparse(), 20);
  });
}

TEST(NeighborIndex, SurvivesDistancesBeyondFloat32) {
  const float huge = 3e38F;
  const Matrix points = Matrix::dense(5, 2, {huge, 0, -huge, 0, 0, 0, 1, 1, huge, huge});
  expect_naive_answers(kEuclidean, points, points, 4);
}

TEST(NeighborIndex, DoesNotDependOnTheNumberOfThreads) {
  const Matrix points = random_rows(5000, 3, 1, 15);
  for (const Structure structure : structures_for(kEuclidean, points)) {
    const auto index = make_neighbor_index(points, kEuclidean, structure);
    const Neighbors one = with_threads(1, [&] { return index->nearest(points, 20); });
    const auto again =
        with_threads(4, [&] { return make_neighbor_index(points, kEuclidean, structure); });
    const Neighbors four = with_threads(4, [&] { return again->nearest(points, 20); });
    EXPECT_EQ(one.rows, four.rows);
    EXPECT_EQ(one.squared_distances, four.squared_distances);
  }
}

// Large enough that the kd-tree's upper splits run in several tasks.
TEST(NeighborIndex, AgreesOnManyRows) {
  for (const bool grid : {false, true}) {
    const Matrix points = grid ? grid_rows(300000, 2, 50, 16) : random_rows(300000, 2, 1, 17);
    const Matrix queries = grid ? grid_rows(50, 2, 50, 18) : random_rows(50, 2, 1, 19);
    const Neighbors brute =
        make_neighbor_index(points, kEuclidean, Structure::brute_force)->nearest(queries, 600);
    for (const Structure structure : structures_for(kEuclidean, points)) {
      const Neighbors found =
          make_neighbor_index(points, kEuclidean, structure)->nearest(queries, 600);
      EXPECT_EQ(found.rows, brute.rows);
      EXPECT_EQ(found.squared_distances, brute.squared_distances);
    }
  }
}

TEST(NeighborIndex, AnswersChosenRowsInTheirOrder) {
  const Matrix points = random_rows(500, 2, 1, 20);
  const std::vector<Index> rows{499, 3, 3, 250};
  for (const Structure structure : structures_for(kEuclidean, points)) {
    const auto index = make_neighbor_index(points, kEuclidean, structure);
    const Neighbors found = index->nearest(points, rows, 3);
    const Balls balls = index->within(points, rows, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto naive = naive_nearest(kEuclidean, points, points, rows[i], 3);
      EXPECT_TRUE(std::ranges::equal(found.rows_of(static_cast<Index>(i)), naive.rows));
      ASSERT_EQ(balls.rows_of(static_cast<Index>(i)).size(), 1U);
      EXPECT_EQ(balls.rows_of(static_cast<Index>(i))[0], rows[i]);
    }
  }
}

TEST(NeighborIndex, RadiusOfTheRbfDistance) {
  const Matrix points = random_rows(200, 2, 1, 21);
  const auto index = make_neighbor_index(points, kRbf);
  EXPECT_EQ(index->within(points, 2.0).rows.size(), 200U * 200U) << "no distance is above 2";
  EXPECT_TRUE(index->within(points, -0.1).rows.empty());
  const Balls some = index->within(points, 0.5);
  const Neighbors all = index->nearest(points, 200);
  const auto inside = std::count_if(all.squared_distances.begin(), all.squared_distances.end(),
                                    [](float d) { return d <= 0.5F; });
  EXPECT_NEAR(static_cast<double>(some.rows.size()), static_cast<double>(inside), 2)
      << "rounding may put a row on the other side";
}

TEST(NeighborIndex, PrecomputedKernel) {
  const Matrix rows = random_rows(30, 4, 1, 22);
  std::vector<float> values;
  for (Index i = 0; i < 30; ++i) {
    values.push_back(static_cast<float>(i + 1));
    for (Index j = 0; j < 30; ++j) {
      float dot = 0;
      for (std::size_t c = 0; c < 4; ++c) dot += rows.dense_row(i)[c] * rows.dense_row(j)[c];
      values.push_back(dot);
    }
  }
  const Matrix matrix = Matrix::dense(30, 31, values);
  const Metric metric{Kernel{.type = KernelType::precomputed}};
  expect_naive_answers(metric, matrix, matrix, 7);
  const Neighbors euclidean = make_neighbor_index(rows, kEuclidean)->nearest(rows, 4);
  const Neighbors precomputed = make_neighbor_index(matrix, metric)->nearest(matrix, 4);
  EXPECT_EQ(euclidean.rows, precomputed.rows);
  values[0] = 31;
  const auto index = make_neighbor_index(matrix, metric);
  EXPECT_THROW(index->nearest(Matrix::dense(30, 31, values), 3), DataError);
}

TEST(NeighborIndex, RefusesWhatItCannotAnswer) {
  const Matrix points = random_rows(20, 3, 1, 23);
  const auto index = make_neighbor_index(points, kEuclidean);
  EXPECT_THROW(index->nearest(points, 0), InvalidArgument);
  EXPECT_THROW(index->nearest(random_rows(2, 4, 1, 24), 1), InvalidArgument);
  EXPECT_THROW(make_neighbor_index(points, kSigmoid, Structure::kd_tree), InvalidArgument);
  EXPECT_THROW(make_neighbor_index(Matrix::dense(1, 1, {1e20F}), kPolynomial), DataError);
  RunControl tight;
  tight.memory_bytes = 1;
  EXPECT_THROW(index->nearest(points, std::vector<Index>(1000000, 0), 3, tight), ResourceError);
}

TEST(NeighborIndex, StopsWhenAsked) {
  const Matrix points = random_rows(20000, 2, 1, 25);
  const std::atomic<bool> stop = true;
  RunControl control;
  control.cancel = &stop;
  for (const Structure structure : structures_for(kEuclidean, points)) {
    const auto index = make_neighbor_index(points, kEuclidean, structure);
    EXPECT_THROW(index->nearest(points, 3, control), Cancelled);
    EXPECT_THROW(index->within(points, 0.1, control), Cancelled);
  }
  EXPECT_THROW(make_neighbor_index(points, kEuclidean, Structure::kd_tree, control), Cancelled);
}

RC_GTEST_PROP(NeighborIndexProperties, GiveTheNaiveAnswer, ()) {
  const Index rows = *rc::gen::inRange<Index>(1, 300);
  const Index cols = *rc::gen::inRange<Index>(1, 12);
  const Index k = *rc::gen::inRange<Index>(1, 80);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000);
  const bool grid = *rc::gen::arbitrary<bool>();
  const bool sparse = *rc::gen::arbitrary<bool>();
  const Metric metric = *rc::gen::element(kEuclidean, kRbf, kPolynomial, kSigmoid);
  Matrix points = grid ? grid_rows(rows, cols, 3, seed) : random_rows(rows, cols, 0.8, seed);
  const Matrix queries = grid ? grid_rows(4, cols, 3, seed + 1) : random_rows(4, cols, 0.8, seed);
  if (sparse) points = points.to_sparse();
  for (const Structure structure : structures_for(metric, points)) {
    const Neighbors found = make_neighbor_index(points, metric, structure)->nearest(queries, k);
    for (Index q = 0; q < 4; ++q) {
      const NaiveAnswer naive = naive_nearest(metric, points, queries, q, k);
      RC_ASSERT(std::ranges::equal(found.rows_of(q), naive.rows));
      RC_ASSERT(std::ranges::equal(found.distances_of(q), naive.squared_distances));
    }
  }
}

}  // namespace
}  // namespace tamis

#include "eval/vector_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/checked.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

VectorRows find(const Matrix& vectors, const Matrix& rows, bool serial_only = false) {
  return find_vector_rows(vectors, rows, serial_only, [](Index) { return true; });
}

std::map<Index, Index> by_row(const VectorRows& found) {
  std::map<Index, Index> vector_of_row;
  Index last = -1;
  for (const VectorRow& one : found.rows) {
    EXPECT_GT(one.row, last);
    last = one.row;
    vector_of_row[one.row] = one.vector;
  }
  return vector_of_row;
}

using Map = std::map<Index, Index>;

TEST(VectorRows, EveryCopyOfARowIsFound) {
  const Matrix rows = Matrix::dense(4, 2, {1, 2, 0, 2, 1, 2, 2, 1});
  const VectorRows found = find(Matrix::dense(2, 2, {2, 1, 1, 2}), rows);
  EXPECT_EQ(by_row(found), (Map{{0, 1}, {2, 1}, {3, 0}}));
  EXPECT_EQ(found.names, (std::vector<Index>{0, 1}));
}

TEST(VectorRows, EqualVectorsHaveOneName) {
  const Matrix rows = Matrix::dense(2, 1, {5, 7});
  const VectorRows found = find(Matrix::dense(4, 1, {7, 5, 7, 3}), rows);
  EXPECT_EQ(found.names, (std::vector<Index>{0, 1, 0, -1}));
  EXPECT_EQ(by_row(found), (Map{{0, 1}, {1, 0}}));
}

TEST(VectorRows, StorageAndWidthDoNotMatter) {
  const Matrix rows = random_matrix(200, 6, 1, 0.5);
  const Map wanted = by_row(find(rows, rows));
  EXPECT_EQ(wanted.size(), 200U);
  EXPECT_EQ(by_row(find(rows.to_sparse(), rows)), wanted);
  EXPECT_EQ(by_row(find(rows.with_cols(9), rows.to_sparse())), wanted);
}

TEST(VectorRows, AgreesWithComparingAllPairs) {
  const Matrix rows = random_matrix(10000, 2, 4, 0.9);  // many empty, some equal
  std::vector<Index> some;
  for (Index i = 0; i < 10000; i += 97) some.push_back(i);
  const Matrix vectors = rows.select(some);
  Map wanted;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index v = vectors.rows() - 1; v >= 0; --v) {
      if (rows.at(i, 0) == vectors.at(v, 0) && rows.at(i, 1) == vectors.at(v, 1)) wanted[i] = v;
    }
  }
  EXPECT_EQ(by_row(find(vectors, rows)), wanted);
}

TEST(VectorRows, MinusZeroIsZero) {
  const Matrix rows = Matrix::dense(1, 2, {0.0F, 1});
  EXPECT_EQ(find(Matrix::dense(1, 2, {-0.0F, 1}), rows).names, std::vector<Index>{0});
}

TEST(VectorRows, AbsentVectorsAreNotFound) {
  const VectorRows found = find(random_matrix(100, 3, 2), random_matrix(100, 3, 1));
  EXPECT_TRUE(found.rows.empty());
  EXPECT_EQ(found.names, std::vector<Index>(100, -1));
}

TEST(VectorRows, RowsThatDoNotCountAreNotThere) {
  const Matrix rows = Matrix::dense(3, 1, {5, 7, 7});
  const VectorRows found = find_vector_rows(Matrix::dense(3, 1, {5, 7, std::nextafter(5.0F, 6.0F)}),
                                            rows, false, [](Index i) { return i == 1; });
  EXPECT_EQ(found.names, (std::vector<Index>{-1, 1, -1}));
  EXPECT_EQ(by_row(found), (Map{{1, 1}}));
}

// A text file with 8 digits gives back a neighbour of the float it came from.
TEST(VectorRows, LastBitsMayDiffer) {
  const Matrix rows = random_matrix(300, 4, 3);
  std::vector<float> values(rows.dense_values().begin(), rows.dense_values().end());
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = std::nextafter(values[k], k % 2 == 0 ? 100.0F : -100.0F);
  const VectorRows found = find(Matrix::dense(300, 4, std::move(values)), rows);
  Map wanted;
  for (Index i = 0; i < 300; ++i) wanted[i] = i;
  EXPECT_EQ(by_row(found), wanted);
}

// Where a row equals a vector, the row beside it is another one.
TEST(VectorRows, EqualRowsComeBeforeSimilarOnes) {
  const float near = std::nextafter(1.0F, 2.0F);
  const Matrix rows = Matrix::dense(3, 1, {near, 1, near});
  EXPECT_EQ(by_row(find(Matrix::dense(1, 1, {1}), rows)), (Map{{1, 0}}));
}

// Of two rows that it may be, a vector is one, with all its copies; and what equals that row is the
// same vector.
TEST(VectorRows, ASimilarVectorIsOneRow) {
  const float low = std::nextafter(1.0F, 0.0F);
  const float high = std::nextafter(1.0F, 2.0F);
  const Matrix rows = Matrix::dense(4, 1, {high, low, high, low});
  EXPECT_EQ(by_row(find(Matrix::dense(1, 1, {1}), rows)), (Map{{1, 0}, {3, 0}}));
  const VectorRows found = find(Matrix::dense(2, 1, {1, low}), rows);
  EXPECT_EQ(found.names, (std::vector<Index>{1, 1}));
  EXPECT_EQ(by_row(found), (Map{{1, 1}, {3, 1}}));
}

TEST(VectorRows, ADifferenceOfOnePartInAMillionIsAnotherRow) {
  const Matrix rows = Matrix::dense(1, 2, {1, 1});
  EXPECT_EQ(find(Matrix::dense(1, 2, {1, 1.000002F}), rows).names, std::vector<Index>{-1});
}

TEST(VectorRows, SerialNumbersOnly) {
  const Matrix rows = Matrix::dense(2, 3, {1, 5, 6, 2, 7, 8});
  const VectorRows found = find(Matrix::dense(2, 1, {2, 3}), rows, true);
  EXPECT_EQ(found.names, (std::vector<Index>{0, -1}));
  EXPECT_EQ(by_row(found), (Map{{1, 0}}));
}

}  // namespace
}  // namespace tamis::testing

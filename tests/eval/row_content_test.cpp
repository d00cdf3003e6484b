#include "eval/row_content.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

TEST(RowContent, EqualRowsFormAGroup) {
  const Matrix rows = Matrix::dense(4, 2, {1, 2, 0, 2, 1, 2, 2, 1});
  const RowContent content(rows, false);
  EXPECT_EQ(content.num_groups(), 3);
  EXPECT_EQ(content.group_of(0), content.group_of(2));
  EXPECT_NE(content.group_of(0), content.group_of(3));  // the same values, other columns
}

TEST(RowContent, StorageAndWidthDoNotMatter) {
  const Matrix rows = random_matrix(200, 6, 1, 0.5);
  const RowContent content(rows, false);
  const auto wanted = content.find(rows);
  EXPECT_EQ(content.find(rows.to_sparse()), wanted);
  EXPECT_EQ(content.find(rows.with_cols(9)), wanted);
  const Matrix sparse = rows.to_sparse();
  const RowContent of_sparse(sparse, false);
  for (Index i = 0; i < rows.rows(); ++i)
    EXPECT_EQ(of_sparse.find(rows)[usize(i)], of_sparse.group_of(i));
}

TEST(RowContent, MinusZeroIsZero) {
  const Matrix rows = Matrix::dense(1, 2, {0.0F, 1});
  EXPECT_EQ(RowContent(rows, false).find(Matrix::dense(1, 2, {-0.0F, 1})), std::vector<Index>{0});
}

TEST(RowContent, AbsentVectorsAreNotFound) {
  const Matrix rows = random_matrix(100, 3, 1);
  const Matrix others = random_matrix(100, 3, 2);
  for (const Index group : RowContent(rows, false).find(others)) EXPECT_EQ(group, -1);
}

// A text file with 8 digits gives back a neighbour of the float it came from.
TEST(RowContent, LastBitsMayDiffer) {
  const Matrix rows = random_matrix(300, 4, 3);
  std::vector<float> values(rows.dense_values().begin(), rows.dense_values().end());
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = std::nextafter(values[k], k % 2 == 0 ? 100.0F : -100.0F);
  const RowContent content(rows, false);
  const auto groups = content.find(Matrix::dense(300, 4, std::move(values)));
  for (Index i = 0; i < rows.rows(); ++i) EXPECT_EQ(groups[usize(i)], content.group_of(i));
}

TEST(RowContent, ADifferenceOfOnePartInAMillionIsAnotherRow) {
  const Matrix rows = Matrix::dense(1, 2, {1, 1});
  EXPECT_EQ(RowContent(rows, false).find(Matrix::dense(1, 2, {1, 1.000002F})),
            std::vector<Index>{-1});
}

TEST(RowContent, SerialNumbersOnly) {
  const Matrix rows = Matrix::dense(2, 3, {1, 5, 6, 2, 7, 8});
  EXPECT_EQ(RowContent(rows, true).find(Matrix::dense(2, 1, {2, 3})),
            (std::vector<Index>{RowContent(rows, true).group_of(1), -1}));
}

}  // namespace
}  // namespace tamis::testing

// Copies of rows, and scaled ones: in memory or in a scratch file, with the same values.
#include "data/copy_rows.hpp"

#include <gtest/gtest.h>

#include "base/memory.hpp"
#include "support/resident_growth.hpp"
#include "tamis/error.hpp"
#include "tamis/scaling.hpp"

namespace tamis {
namespace {

constexpr Index kRows = 200'000;
constexpr Index kCols = 20;  // 16 MiB

Matrix some_rows() {
  std::vector<float> values(static_cast<std::size_t>(kRows * kCols));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 3 == 0 ? 0.0F : static_cast<float>(i % 1013) - 500;
  return Matrix::dense(kRows, kCols, std::move(values));
}

RunControl small_budget(const std::string& folder) {
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (4 << 20);
  control.scratch_folder = folder;
  return control;
}

void expect_equal(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.is_sparse(), b.is_sparse());
  ASSERT_EQ(a.num_stored(), b.num_stored());
  const auto x = a.is_sparse() ? a.sparse_values() : a.dense_values();
  const auto y = b.is_sparse() ? b.sparse_values() : b.dense_values();
  EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin()));
  if (!a.is_sparse()) return;
  EXPECT_TRUE(std::equal(a.row_offsets().begin(), a.row_offsets().end(), b.row_offsets().begin()));
  EXPECT_TRUE(
      std::equal(a.sparse_columns().begin(), a.sparse_columns().end(), b.sparse_columns().begin()));
}

TEST(CopyRows, AreThoseOfSelect) {
  std::vector<Index> rows;
  for (Index i = 0; i < kRows; ++i) rows.push_back(i * 7919 % kRows);
  for (const Matrix& features : {some_rows(), some_rows().to_sparse()}) {
    const Matrix expected = features.select(rows);
    expect_equal(copy_rows(features, rows, "it", {}), expected);
    const std::int64_t before = resident_memory_bytes();
    const Matrix copy = copy_rows(features, rows, "it", small_budget(testing::TempDir()));
    EXPECT_LT(resident_growth(before), 8 << 20);
    expect_equal(copy, expected);
    EXPECT_THROW(copy_rows(features, rows, "it", small_budget("/nowhere")), ResourceError);
  }
}

TEST(CopyRows, KnowWhetherTheyHoldOnlyOnes) {
  const Matrix ones = Matrix::sparse(3, {0, 2, 3}, {0, 2, 1}, {1, 1, 1});
  const Matrix other = Matrix::sparse(3, {0, 2, 3}, {0, 2, 1}, {1, 2, 1});
  EXPECT_TRUE(copy_rows(ones, std::vector<Index>{1, 0}, "it", {}).has_only_ones());
  EXPECT_FALSE(copy_rows(other, std::vector<Index>{1, 0}, "it", {}).has_only_ones());
}

TEST(CopyRows, ScalingKeepsToTheBudget) {
  for (const Matrix& features : {some_rows(), some_rows().to_sparse()}) {
    for (const ScalingMethod method : {ScalingMethod::standard, ScalingMethod::maxabs}) {
      const Scaling scaling = Scaling::fit(features, method);
      if (features.is_sparse() && method == ScalingMethod::standard) {  // would become dense
        EXPECT_THROW(scaling.apply(features, small_budget(testing::TempDir())), ResourceError);
        continue;
      }
      const Matrix expected = scaling.apply(features);
      const std::int64_t before = resident_memory_bytes();
      const Matrix scaled = scaling.apply(features, small_budget(testing::TempDir()));
      EXPECT_LT(resident_growth(before), 8 << 20);
      expect_equal(scaled, expected);
      EXPECT_THROW(scaling.apply(features, small_budget("/nowhere")), ResourceError);
    }
  }
}

}  // namespace
}  // namespace tamis

#include "tamis/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/error_of.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

Matrix small_dense() { return Matrix::dense(3, 2, {1, 0, 0, 2, 3, 4}); }

TEST(Matrix, KnowsWhetherItHoldsOnlyOnes) {
  const Matrix ones = Matrix::sparse(3, {0, 2, 2, 3}, {0, 2, 1}, {1, 1, 1});
  EXPECT_TRUE(ones.has_only_ones());
  EXPECT_TRUE(ones.slice(1, 3).has_only_ones());
  EXPECT_TRUE(ones.select(std::vector<Index>{2, 0}).has_only_ones());
  EXPECT_FALSE(ones.to_dense().has_only_ones());
  const Matrix other = Matrix::sparse(3, {0, 2, 2, 3}, {0, 2, 1}, {1, 1, 0.5F});
  EXPECT_FALSE(other.has_only_ones());
  EXPECT_TRUE(other.select(std::vector<Index>{0, 1}).has_only_ones());
  const auto values = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 1});
  EXPECT_FALSE(ones.with_values(values->data(), values).has_only_ones());
  const auto same = std::make_shared<const std::vector<float>>(std::vector<float>{1, 1, 1});
  EXPECT_TRUE(ones.with_values(same->data(), same).has_only_ones());
  EXPECT_TRUE(ones.with_cols(5).has_only_ones());
  EXPECT_TRUE(ones.numbered_as(other).has_only_ones());
}

TEST(Matrix, DenseAndSparseAgree) {
  const Matrix dense = small_dense();
  const Matrix sparse = dense.to_sparse();
  ASSERT_TRUE(sparse.is_sparse());
  EXPECT_EQ(sparse.num_stored(), 4);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(sparse.at(i, j), dense.at(i, j));
  }
  const std::vector<Index> rows{2, 0, 2};
  const Matrix a = dense.select(rows);
  const Matrix b = sparse.select(rows).to_dense();
  EXPECT_EQ(std::vector<float>(a.dense_values().begin(), a.dense_values().end()),
            (std::vector<float>{3, 4, 1, 0, 3, 4}));
  EXPECT_TRUE(
      std::equal(a.dense_values().begin(), a.dense_values().end(), b.dense_values().begin()));
}

TEST(Dataset, SlicesAreTheRowsBetween) {
  const Matrix dense = Matrix::dense(4, 3, {1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 5, 6});
  const Labels numbers = Labels::numeric({3, 1, 2, 1});
  const std::vector<float> plain{3, 1, 2, 1};
  const Labels floats = Labels::numeric_view(std::span<const float>(plain), nullptr);
  const Labels words = Labels::text({"c", "a", "b", "a"});
  for (const Matrix& features : {dense, dense.to_sparse()}) {
    for (const Labels& labels : {Labels(), numbers, floats, words}) {
      const Dataset data(features, labels, {1, 2, 3, 4});
      for (Index begin = 0; begin <= 4; ++begin) {
        for (Index end = begin; end <= 4; ++end) {
          std::vector<Index> rows;
          for (Index i = begin; i < end; ++i) rows.push_back(i);
          const Dataset slice = data.slice(begin, end);
          const Dataset chosen = data.select(rows);
          ASSERT_EQ(slice.rows(), end - begin);
          EXPECT_EQ(slice.features().num_stored(), chosen.features().num_stored());
          EXPECT_EQ(slice.labels(), chosen.labels());
          for (Index i = 0; i < slice.rows(); ++i) {
            EXPECT_EQ(slice.weight(i), chosen.weight(i));
            for (Index j = 0; j < 3; ++j)
              EXPECT_EQ(slice.features().at(i, j), chosen.features().at(i, j));
          }
          if (end - begin == 4) continue;
          const Dataset twice = data.slice(begin, 4).slice(0, end - begin);
          EXPECT_EQ(twice.labels(), chosen.labels());
          EXPECT_EQ(twice.features().num_stored(), chosen.features().num_stored());
        }
      }
    }
  }
}

TEST(Matrix, ErrorsNameTheRowThatASliceTookFromTheWhole) {
  std::vector<float> values(30, 1.0F);
  values[7 * 3 + 2] = std::numeric_limits<float>::quiet_NaN();
  const Matrix whole = Matrix::dense(10, 3, std::move(values));
  for (const Matrix& rows : {whole.slice(4, 10).slice(2, 6), whole.to_sparse().slice(6, 10)}) {
    EXPECT_EQ(rows.row_number(0), 7);
    for (const Matrix& same : {rows, rows.to_dense(), rows.to_sparse(), rows.with_cols(5)}) {
      EXPECT_EQ(test::error_of([&] { require_finite(same); }),
                "row 8, column 3 is nan: values must be finite");
    }
    EXPECT_EQ(test::error_of([&] { rows.with_cols(2); }),
              "row 7 has a value in column 3, but only 2 columns are known");
    EXPECT_EQ(rows.select(std::vector<Index>{1}).row_number(0), 1);
  }
}

TEST(Matrix, OtherValuesInTheSamePlaces) {
  const Matrix sparse = small_dense().to_sparse();
  const auto values = std::make_shared<std::vector<float>>(std::vector<float>{5, 6, 7, 8});
  const Matrix other = sparse.with_values(values->data(), values);
  EXPECT_EQ(other.at(0, 0), 5);
  EXPECT_EQ(other.at(0, 1), 0);
  EXPECT_EQ(other.at(2, 1), 8);
  EXPECT_EQ(sparse.at(2, 1), 4);
}

TEST(Matrix, RefusesWrongShapes) {
  EXPECT_THROW(Matrix::dense(2, 2, {1, 2, 3}), InvalidArgument);
  EXPECT_THROW(Matrix::dense(-1, 2, {}), InvalidArgument);
  EXPECT_THROW(Matrix::sparse(2, {0, 1}, {2}, {1}), DataError);        // column out of range
  EXPECT_THROW(Matrix::sparse(2, {0, 2}, {1, 1}, {1, 1}), DataError);  // not ascending
  EXPECT_THROW(Matrix::sparse(2, {0, 3}, {0}, {1}), DataError);        // offsets past the end
  EXPECT_THROW(Matrix::sparse(2, {0, 9, 1}, {0}, {1}), DataError);     // offsets descend
}

TEST(Matrix, ChangesItsNumberOfColumns) {
  for (const Matrix& m : {small_dense(), small_dense().to_sparse()}) {
    EXPECT_EQ(m.with_cols(4).at(2, 1), 4);
    EXPECT_EQ(m.with_cols(4).at(2, 3), 0);
    EXPECT_EQ(m.with_cols(4).with_cols(2).cols(), 2);
    EXPECT_THROW(m.with_cols(1), DataError);
  }
}

TEST(Matrix, DenseCopiesMustFitTheMemory) {
  const Matrix far = Matrix::sparse(2000000000, {0, 1}, {1999999999}, {1});
  const std::vector<Index> rows(1000, 0);
  EXPECT_THROW(far.select(rows).to_dense(), ResourceError);
  EXPECT_EQ(far.to_sparse().num_stored(), 1);
}

TEST(Matrix, FindsValuesThatAreNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_NO_THROW(require_finite(small_dense()));
  try {
    require_finite(Matrix::dense(2, 2, {1, 2, 3, inf}).to_sparse());
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "row 2, column 2 is inf: values must be finite");
  }
}

TEST(Labels, KeepTheirNames) {
  EXPECT_EQ(Labels::numeric({1, -1, 2.5}).name(2), "2.5");
  EXPECT_EQ(Labels::numeric({1, -1}).name(1), "-1");
  const Labels words = Labels::text({"cat", "dog", "cat"});
  EXPECT_EQ(words.name(2), "cat");
  EXPECT_EQ(words.select(std::vector<Index>{1}).name(0), "dog");
}

TEST(Labels, ClassesAreSortedButTheLargerOfTwoComesFirst) {
  EXPECT_EQ(distinct_classes(Labels::numeric({-1, 1, -1})), Labels::numeric({1, -1}));
  EXPECT_EQ(distinct_classes(Labels::numeric({3, 1, 2, 1})), Labels::numeric({1, 2, 3}));
  EXPECT_EQ(distinct_classes(Labels::text({"b", "a", "c"})), Labels::text({"a", "b", "c"}));
  EXPECT_EQ(encode_labels(Labels::numeric({1, 7, -1}), Labels::numeric({1, -1})),
            (std::vector<std::int32_t>{0, -1, 1}));
  EXPECT_EQ(encode_labels(Labels::text({"x", "y"}), Labels::text({"y"})),
            (std::vector<std::int32_t>{-1, 0}));
}

// What a model file could not name.
TEST(Labels, ClassesAreFiniteNumbersOrUtf8) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    EXPECT_THROW(distinct_classes(Labels::numeric({1, value, 2})), DataError);
  for (const char* word : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"})
    EXPECT_THROW(Labels::text({"x", word}), DataError) << word;
  EXPECT_EQ(Labels::text({"\xc3\xa9", "\xe2\x82\xac", "two\nlines"}).size(), 3);
}

// A file with a number too long for a double has text labels, another one of the same classes may
// not.
TEST(Labels, WholeNumbersAreTheSameAsTextAndAsNumber) {
  const Labels text = Labels::text({"10000000000000001", "10000000000000000", "3"});
  const Labels numbers = Labels::numeric({3, 1e16, 7});
  EXPECT_EQ(encode_labels(numbers, text), (std::vector<std::int32_t>{2, 1, -1}));
  EXPECT_EQ(encode_labels(text, numbers), (std::vector<std::int32_t>{-1, 1, 0}));
}

TEST(Dataset, ChecksItsParts) {
  EXPECT_THROW(Dataset(small_dense(), Labels::numeric({1})), DataError);
  EXPECT_THROW(Dataset(small_dense(), {}, {1, -1, 1}), DataError);
  EXPECT_THROW(Dataset(small_dense(), {}, {1}), DataError);
  const Dataset data(small_dense(), Labels::numeric({1, 2, 3}), {1, 2, 3});
  const Dataset part = data.select(std::vector<Index>{2});
  EXPECT_EQ(part.rows(), 1);
  EXPECT_EQ(part.weight(0), 3);
  EXPECT_EQ(part.labels().number(0), 3);
}

}  // namespace
}  // namespace tamis

// CSV with missing values, text columns, and for the columns of a model.
#include <gtest/gtest.h>

#include <cmath>

#include "support.hpp"

namespace tamis::test {
namespace {

Dataset parse(std::string_view text, const ReadOptions& options, std::int64_t chunk = 7) {
  return parse_text(parse_csv, text, options, 2, chunk);
}
std::string error_in(std::string_view text, const ReadOptions& options) {
  return text_error(parse_csv, text, options);
}
ReadOptions with_missing() {
  ReadOptions options;
  options.missing_values = true;
  return options;
}
ReadOptions with_text() {
  ReadOptions options;
  options.text_columns = true;
  return options;
}
std::vector<std::string> categories_of(const Dataset& data, std::size_t column) {
  return data.categories()[column];
}

TEST(CsvColumns, MissingValuesAreNanWhereAllowed) {
  const std::string text = "a,b,label\n1,,1\nNaN,2,2\nNA,?,1\n\"\",-nan,2\n";
  const Dataset data = parse(text, with_missing());
  ASSERT_EQ(data.rows(), 4);
  const bool expected[4][2] = {{false, true}, {true, false}, {true, true}, {true, true}};
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 2; ++j)
      EXPECT_EQ(std::isnan(data.features().at(i, j)), expected[i][j]) << i << ' ' << j;
  }
  EXPECT_EQ(data.features().at(1, 1), 2);
  EXPECT_EQ(error_in(text, {}), "t:2:3: column 'b' is empty: every feature needs a number");
  // Infinite values, words and missing labels are errors as before.
  EXPECT_NE(error_in("1,inf,1\n", with_missing()), "");
  EXPECT_NE(error_in("1,2,1\n1,word,1\n", with_missing()), "");
  EXPECT_NE(error_in("1,2,\n", with_missing()), "");
}

// A missing field takes one byte of text, a number two: there is room for as many.
TEST(CsvColumns, ALineOfMissingValues) {
  constexpr Index kMissing = 100'000;
  for (const Index rows : {1, 3}) {
    std::string text;
    for (Index i = 0; i < rows; ++i) text += std::string(kMissing, ',') + "1\n";
    const Dataset data = parse(text, with_missing());
    ASSERT_EQ(data.rows(), rows);
    ASSERT_EQ(data.features().cols(), kMissing);
    for (Index j = 0; j < kMissing; ++j) ASSERT_TRUE(std::isnan(data.features().at(rows - 1, j)));
  }
}

TEST(CsvColumns, SvmlightMayHaveNanToo) {
  const Dataset data = parse_text(parse_svmlight, "1 1:2 3:nan\n2 2:NaN\n", with_missing());
  EXPECT_TRUE(std::isnan(data.features().at(0, 2)));
  EXPECT_TRUE(std::isnan(data.features().at(1, 1)));
  EXPECT_EQ(data.features().at(0, 1), 0);
  EXPECT_NE(text_error(parse_svmlight, "1 1:nan\n", {}), "");
  EXPECT_NE(text_error(parse_svmlight, "1 1:nanx\n", with_missing()), "");
}

TEST(CsvColumns, WordsBecomeCategoriesByTheAlphabet) {
  const std::string text = "size,kind,label\n1,dog,a\n2,\"cat, big\",b\n3,dog,a\n4,ape,a\n";
  for (const std::int64_t chunk : {1, 7, 20, 1000}) {
    const Dataset data = parse(text, with_text(), chunk);
    ASSERT_EQ(data.categories().size(), 2U);
    EXPECT_TRUE(categories_of(data, 0).empty());
    EXPECT_EQ(categories_of(data, 1), (std::vector<std::string>{"ape", "cat, big", "dog"}));
    const float expected[] = {3, 2, 3, 1};
    for (Index i = 0; i < 4; ++i) EXPECT_EQ(data.features().at(i, 1), expected[i]) << chunk;
    EXPECT_EQ(data.features().at(2, 0), 3);
  }
  EXPECT_NE(error_in(text, {}), "");
}

TEST(CsvColumns, AWordAmongNumbersIsAnError) {
  EXPECT_EQ(error_in("a,label\n1,1\n2,1\nx,2\n", with_text()),
            "t:4:1: 'x' is not a number (column 'a')");
  // As many words as numbers: text, and the numbers are words.
  const Dataset data = parse("a,label\n1,1\nx,2\n", with_text());
  EXPECT_EQ(categories_of(data, 0), (std::vector<std::string>{"1", "x"}));
  EXPECT_EQ(error_in("a,label\nx,1\n,2\n", with_text()), "t:3:1: column 'a' is empty");
  ReadOptions both = with_text();
  both.missing_values = true;
  EXPECT_TRUE(std::isnan(parse("a,label\nx,1\n,2\n", both).features().at(1, 0)));
  EXPECT_NE(error_in("a,label\n\xff,1\n", with_text()).find("UTF-8"), std::string::npos);
}

TEST(CsvColumns, ALineWithANumberIsNoHeader) {
  const Dataset data = parse("red,1.5,yes\nblue,2.5,no\n", with_text());
  EXPECT_EQ(data.rows(), 2);
  EXPECT_TRUE(data.feature_names().empty());
  EXPECT_EQ(parse("color,size,y\nred,1.5,yes\n", with_text()).rows(), 1);
}

// Rows for a model that was trained on color (text), size and weight (may be missing).
ReadOptions for_model() {
  const Dataset trained =
      Dataset(Matrix::dense(2, 3, {1, 2, 3, 2, 4, 5}), {}, {}, {"color", "size", "y"})
          .with_categories({{"7", "red"}, {}, {}});
  ReadOptions options;
  options.columns = ColumnMap::fit(trained, {MissingValues::impute, TextColumns::one_hot, 9});
  options.min_features = 3;
  return options;
}

TEST(CsvColumns, OfAModelAreReadAsTheyWere) {
  // Numbers in a text column, another order, a column nobody knows, no label.
  const std::string text = "y,note,color,size\n1,what,7,\n2,ever,9,4\n";
  const Dataset data = parse(text, for_model());
  EXPECT_EQ(data.labels().kind(), LabelKind::none);
  const Dataset matched = for_model().columns.match(data);
  EXPECT_EQ(matched.features().at(0, 0), 1);
  EXPECT_EQ(matched.features().at(1, 0), 0);
  EXPECT_TRUE(std::isnan(matched.features().at(0, 1)));
  EXPECT_EQ(matched.features().at(1, 2), 2);
  // A label behind the features, whatever its name.
  EXPECT_EQ(parse("color,size,y,kind\nred,1,2,a\n", for_model()).labels(), Labels::text({"a"}));
  // Without a header, by position; no column too many means no label.
  const Dataset plain = parse("red,1,2\nblue,3,4\n", for_model());
  EXPECT_EQ(plain.labels().kind(), LabelKind::none);
  EXPECT_EQ(for_model().columns.match(plain).features().at(0, 0), 2);
  EXPECT_EQ(parse("red,1,2,a\n", for_model()).labels(), Labels::text({"a"}));
  // One is missing.
  EXPECT_THROW(for_model().columns.match(parse("color,size\nred,1\n", for_model())), DataError);
}

}  // namespace
}  // namespace tamis::test

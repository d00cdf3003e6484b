// The CSV reader against an obvious twin, and on everything that can be wrong with a file.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <atomic>

#include <cstdlib>
#include <optional>

#include "support.hpp"

namespace tamis::test {
namespace {

Dataset parse(std::string_view text, const ReadOptions& options = {}, int threads = 2,
              std::int64_t chunk = 7) {
  return parse_text(parse_csv, text, options, threads, chunk);
}
std::string error_in(std::string_view text, const ReadOptions& options = {}) {
  return text_error(parse_csv, text, options);
}
ReadOptions with_label(const std::string& column) {
  ReadOptions options;
  options.label_column = column;
  return options;
}
std::vector<std::string> names_of(const Dataset& data) {
  return {data.feature_names().begin(), data.feature_names().end()};
}

TEST(Csv, TakesTheLastColumnOrTheOneCalledLabel) {
  const Dataset plain = parse("1,2,3\n4,5,-6\n");
  EXPECT_EQ(plain.cols(), 2);
  EXPECT_EQ(plain.labels(), Labels::numeric({3, -6}));
  EXPECT_TRUE(plain.feature_names().empty());
  const Dataset named = parse("a,Class,b\n1,x,2\n3,y,4\n");
  EXPECT_EQ(named.labels(), Labels::text({"x", "y"}));
  EXPECT_EQ(named.features().at(1, 1), 4);
  EXPECT_EQ(names_of(named), (std::vector<std::string>{"a", "b"}));
}

TEST(Csv, FindsColumnsByNameOrNumber) {
  const std::string text = "a;b;w\n1;2;0.5\n3;4;2\n";
  ReadOptions options = with_label("a");
  options.weight_column = "w";
  const Dataset data = parse(text, options);
  EXPECT_EQ(data.labels(), Labels::numeric({1, 3}));
  EXPECT_EQ(data.weight(1), 2);
  EXPECT_EQ(data.cols(), 1);
  options.label_column = "2";
  EXPECT_EQ(parse(text, options).labels(), Labels::numeric({2, 4}));
  EXPECT_EQ(parse(text, with_label("none")).cols(), 3);
  EXPECT_EQ(parse(text, with_label("none")).labels().kind(), LabelKind::none);
  EXPECT_EQ(error_in(text, with_label("4")), "t: no label column 4: the columns are 1 to 3");
  EXPECT_EQ(error_in(text, with_label("z")),
            "t: no column is called 'z'; the first line has 'a', 'b', 'w'");
  EXPECT_EQ(error_in("1\n2\n"),
            "t: 1 column, and none left for features; label none reads data without labels");
  options.label_column = "w";
  EXPECT_EQ(error_in(text, options), "t: column 3 cannot be both label and weight");
}

TEST(Csv, ReadsQuotesBlanksTabsAndLineEnds) {
  const Dataset data = parse(
      "\xef\xbb\xbf\"a \"\"x\"\"\",\"b,c\", label \r\n\"1\", 2 ,\"p \"\"q\"\", "
      "r\"\r\n\r\n-1,+.5e1, s t \r\n");
  EXPECT_EQ(names_of(data), (std::vector<std::string>{"a \"x\"", "b,c"}));
  EXPECT_EQ(data.labels(), Labels::text({"p \"q\", r", "s t"}));
  EXPECT_EQ(data.features().at(1, 1), 5);
  const Dataset tabs = parse("1\t2\tx\n3\t4\ty");
  EXPECT_EQ(tabs.cols(), 2);
  EXPECT_EQ(tabs.labels(), Labels::text({"x", "y"}));
}

TEST(Csv, StoresMostlyZerosSparsely) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 20; ++j) text += i == j ? "1," : "0,";
    text += "7\n";
  }
  const Dataset data = parse(text);
  EXPECT_TRUE(data.features().is_sparse());
  EXPECT_EQ(data.features().num_stored(), 20);
  EXPECT_EQ(data.cols(), 20);
}

TEST(Csv, PadsColumns) {
  ReadOptions options;
  options.min_features = 3;
  const Dataset data = parse("a,label\n1,2\n", options);
  EXPECT_EQ(names_of(data), (std::vector<std::string>{"a", "f2", "f3"}));
  EXPECT_EQ(data.cols(), 3);
}

TEST(Csv, NamesThePlaceOfEveryMistake) {
  const std::string good = "age,size,label\n1,2,x\n";
  const auto bad = [&](const std::string& line) { return error_in(good + line + "\n1,2,y\n1\n"); };
  EXPECT_EQ(bad("1,2"), "t:3:1: 2 field(s), but the first line has 3");
  EXPECT_EQ(bad("1,2,x,4"), "t:3:1: 4 field(s), but the first line has 3");
  EXPECT_EQ(bad("1,,x"), "t:3:3: column 'size' is empty: every feature needs a number");
  EXPECT_EQ(bad("1,\"\",x"), "t:3:4: column 'size' is empty: every feature needs a number");
  EXPECT_EQ(bad("1,2,"), "t:3:5: the label is missing (column 'label')");
  EXPECT_EQ(bad("abc,2,x"), "t:3:1: 'abc' is not a number (column 'age')");
  EXPECT_EQ(bad("1, 2z,x"), "t:3:4: '2z' is not a number (column 'size')");
  EXPECT_EQ(bad("1,NaN,x"), "t:3:3: 'NaN' is not allowed: values must be finite (column 'size')");
  EXPECT_EQ(bad("1,1e60,x"), "t:3:3: '1e60' is too large for a 32-bit float (column 'size')");
  EXPECT_EQ(bad("1,2,inf"), "t:3:5: the label 'inf' is not finite");
  EXPECT_EQ(bad("1,2,\"x"),
            "t:3:5: a quoted field is not closed on its line: line breaks inside quotes are not "
            "supported");
  EXPECT_EQ(bad("1,\"2\"3,x"),
            "t:3:6: text after a closing quote: double a quote inside a quoted field");
  EXPECT_EQ(bad(std::string("1,\0,x", 5)), "t:3:3: '\\x00' is not a number (column 'size')");
  EXPECT_EQ(error_in("1,2,3\n1,z,3\n"), "t:2:3: 'z' is not a number (column 2)");
  EXPECT_EQ(error_in("1,nan,3\n1,2,3\n"),
            "t:1:3: 'nan' is not allowed: values must be finite (column 2)");
  ReadOptions options;
  options.text_labels = false;
  EXPECT_EQ(error_in(good, options), "t:2:5: the label 'x' is not a number");
  options = {};
  options.weight_column = "size";
  EXPECT_EQ(error_in("age,size,label\n1,-2,x\n", options),
            "t:2:3: the weight '-2' is negative (column 'size')");
  EXPECT_EQ(error_in("age,size,label\n1,w,x\n", options),
            "t:2:3: 'w' is not a number (column 'size')");
  EXPECT_EQ(error_in(""), "t: no rows: the file is empty");
  EXPECT_EQ(error_in("a,b,label\n\n"), "t: no rows: only comments, blank lines or a header");
  EXPECT_EQ(error_in("a,\"b\n1,2\n").substr(0, 28), "t:1:3: a quoted field is not");
}

// The twin: getline on the delimiter and strtod. No quotes.
RC_GTEST_PROP(Csv, ReadsWhatTheTwinReads, ()) {
  const Index rows = *rc::gen::inRange(1, 30);
  const Index cols = *rc::gen::inRange(1, 8);
  const char delimiter = *rc::gen::element(',', ';', '\t');
  std::string text;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j)
      text += std::to_string(*rc::gen::inRange(-3000, 3000)) + "." +
              std::to_string(*rc::gen::inRange(0, 99999)) + delimiter;
    text += std::to_string(*rc::gen::inRange(0, 3)) + "\n";
  }
  const Dataset data = parse(text, {}, 2, *rc::gen::inRange(1, 200));
  RC_ASSERT(data.rows() == rows);
  RC_ASSERT(data.cols() == cols);
  std::istringstream lines(text);
  std::string line;
  for (Index i = 0; std::getline(lines, line); ++i) {
    std::istringstream fields(line);
    std::string field;
    for (Index j = 0; std::getline(fields, field, delimiter); ++j) {
      const double value = std::strtod(field.c_str(), nullptr);
      if (j < cols)
        RC_ASSERT(data.features().at(i, j) == static_cast<float>(value));
      else
        RC_ASSERT(data.labels().number(i) == value);
    }
  }
}

RC_GTEST_PROP(Csv, DamagedTextNeverCrashes, ()) {
  std::string text = "a,\"b\",label\n1,2.5,\"x\"\n\n-3,\"4\",y\r\n5,6e1,\"z \"\"z\"";
  const int changes = *rc::gen::inRange(1, 6);
  for (int c = 0; c < changes; ++c) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::oneOf(rc::gen::elementOf(std::string("\n\r\t ,;\"-+.e019x")),
                               rc::gen::arbitrary<char>());
  }
  std::string first_error;
  std::optional<Dataset> first;
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t chunk : {1, 7, 1000}) {
      std::optional<Dataset> data;
      const std::string error = error_of([&] { data = parse(text, {}, threads, chunk); });
      if (threads == 1 && chunk == 1) {
        first = data;
        first_error = error;
      }
      RC_ASSERT(error == first_error);
      if (first) RC_ASSERT(same_data(*data, *first));
    }
  }
}

// A text of `line`, parsed with little memory, or by someone who has asked to stop already.
std::string outcome(const std::string& line, std::int64_t memory_bytes, bool stop) {
  const std::atomic<bool> cancel{stop};
  RunControl control;
  control.memory_bytes = memory_bytes;
  control.cancel = &cancel;
  const ParseInput source{"t", {line, nullptr, 0}};
  return error_of(
      [&] { with_threads(1, [&] { return parse_csv(source, {}, control, kTextChunkBytes); }); });
}

TEST(Csv, AFirstLineOfAnyLengthKeepsToTheBudget) {
  const std::string commas(std::size_t{10} << 20, ',');
  EXPECT_EQ(outcome(commas, std::int64_t{200} << 20, false),
            "t:1:1: column 1 is empty: every feature needs a number");
  EXPECT_EQ(outcome(commas, std::int64_t{64} << 20, false).substr(0, 35),
            "reading t needs 90.0 MiB, but the m");
  std::string names;
  for (int i = 0; i < 2000000; ++i) names += "f,";
  EXPECT_EQ(outcome(names, std::int64_t{64} << 20, false).substr(0, 42),
            "reading t with 2000001 columns needs 122 M");
}

TEST(Csv, CanBeStoppedWithinALine) {
  std::string line(std::size_t{3} << 20, ',');
  line += '"';  // never closed: an error at the end of the line
  EXPECT_EQ(outcome(line, 0, true), "cancelled");
}

}  // namespace
}  // namespace tamis::test

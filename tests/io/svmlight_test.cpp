// The svmlight reader against an obvious twin, and on everything that can be wrong with a file.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <clocale>
#include <cstdlib>
#include <locale>
#include <map>
#include <optional>

#include "support.hpp"

namespace tamis::test {
namespace {

std::string error_in(std::string_view text, const ReadOptions& options = {}) {
  return text_error(parse_svmlight, text, options);
}

Dataset parse(std::string_view text, const ReadOptions& options = {}, int threads = 2,
              std::int64_t chunk = 7) {
  return parse_text(parse_svmlight, text, options, threads, chunk);
}

// The twin: streams, strtod and a map. Valid, labelled, 1-based text only.
struct SlowRow {
  std::string label;
  std::map<Index, float> values;
};
std::vector<SlowRow> read_slowly(const std::string& text) {
  std::vector<SlowRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    std::istringstream tokens(line);
    SlowRow row;
    if (!(tokens >> row.label)) continue;
    for (std::string token; tokens >> token;) {
      const auto colon = token.find(':');
      if (token.starts_with("qid:")) continue;
      row.values[std::stoll(token.substr(0, colon)) - 1] =
          static_cast<float>(std::strtod(token.substr(colon + 1).c_str(), nullptr));
    }
    rows.push_back(row);
  }
  return rows;
}

void expect_same(const Dataset& data, const std::vector<SlowRow>& rows) {
  ASSERT_EQ(data.rows(), static_cast<Index>(rows.size()));
  const Matrix dense = data.features().to_dense();
  for (Index i = 0; i < data.rows(); ++i) {
    const SlowRow& row = rows[static_cast<std::size_t>(i)];
    if (data.labels().kind() == LabelKind::numeric)
      EXPECT_EQ(data.labels().number(i), std::strtod(row.label.c_str(), nullptr));
    else
      EXPECT_EQ(data.labels().name(i), row.label);
    for (Index j = 0; j < data.cols(); ++j) {
      const auto found = row.values.find(j);
      EXPECT_EQ(dense.at(i, j), found == row.values.end() ? 0.0F : found->second);
    }
    EXPECT_TRUE(row.values.empty() || row.values.rbegin()->first < data.cols());
  }
}

TEST(Svmlight, ReadsWhatTheTwinReads) {
  const std::string text =
      "# a comment\n+1 1:0.5 3:-2e-1 # trailing\r\n\n  \t\r\n-1\tqid:7 2:1 \t 4:.25  \n1 1:5. 2:0\n"
      "0#none\n-1 007:3#tight";
  const auto rows = read_slowly(text);
  ASSERT_EQ(rows.size(), 5U);
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t chunk : {1, 2, 7, 30, 1000}) {
      const Dataset data = parse(text, {}, threads, chunk);
      EXPECT_EQ(data.cols(), 7);
      EXPECT_EQ(data.labels().kind(), LabelKind::numeric);
      expect_same(data, rows);
    }
  }
}

TEST(Svmlight, KeepsWordsExactlyAsWritten) {
  const Dataset data = parse("cat 1:1\n+1.50 1:2\n\xc3\xa9t\xc3\xa9 2:1\ncat 1:3\n");
  ASSERT_EQ(data.labels().kind(), LabelKind::text);
  EXPECT_EQ(data.labels(), Labels::text({"cat", "+1.50", "\xc3\xa9t\xc3\xa9", "cat"}));
}

TEST(Svmlight, AWordAmongNumbersIsAnError) {
  EXPECT_EQ(error_in("1 1:1\n2 1:2\n1 2:1\nx1 1:3\n2 1:3\nx2 1:3\n"),
            "t:4:1: the label 'x1' is a word, but the labels of 4 rows are numbers: correct it, or "
            "read labels as text");
  ReadOptions options;
  options.labels_as_text = true;
  EXPECT_EQ(parse_text(parse_svmlight, "+1 1:1\n01 1:2\nx 2:1\n1 2:2\n2 1:1\n", options).labels(),
            Labels::text({"+1", "01", "x", "1", "2"}));
  EXPECT_EQ(parse("a 1:1\n7 1:2\n").labels(), Labels::text({"a", "7"}));
  // What cannot be parsed comes first, wherever it is.
  EXPECT_EQ(error_in("1 1:1\n2 1:2\nx 1:1\n1 1:z\n"), "t:4:5: 'z' is not a number");
}

TEST(Svmlight, LongWholeNumbersStayApart) {
  const char* const text =
      "9007199254740993 1:1\n+9007199254740992 1:2\n-009007199254740993 1:3\n5.0 1:4\n05 1:1\n"
      "123456789012345678901234567890 1:1\n";
  const Labels labels = parse(text).labels();
  EXPECT_EQ(labels, Labels::text({"9007199254740993", "9007199254740992", "-9007199254740993", "5",
                                  "5", "123456789012345678901234567890"}));
  ReadOptions numbers;
  numbers.text_labels = false;
  EXPECT_EQ(parse_text(parse_svmlight, text, numbers).labels().number(0), 0x1p53);
  EXPECT_EQ(parse("9007199254740992 1:1\n1e300 1:2\n0.1000000000000000000001 1:1\n").labels(),
            Labels::numeric({0x1p53, 1e300, 0.1}));
}

TEST(Svmlight, RowsMayAllLackLabels) {
  const Dataset data = parse("1:2 2:3\n# x\nqid:4 2:5\n");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.labels().kind(), LabelKind::none);
  EXPECT_EQ(data.features().at(1, 1), 5);
  EXPECT_EQ(error_in("1 1:2\n-1 1:3\n  1:2 2:3\n-1 1:1\n"),
            "t:3:3: the label is missing: earlier rows have one");
  EXPECT_EQ(error_in("1:2 2:3\n1:2\n1 1:2\n"), "t:3:1: a label, but earlier rows have none");
}

TEST(Svmlight, CountsFromZeroWhenTold) {
  ReadOptions options;
  options.index_base = 0;
  const Dataset data = parse("1 0:5 1:6\n", options);
  EXPECT_EQ(data.cols(), 2);
  EXPECT_EQ(data.features().at(0, 0), 5);
  options.index_base = 2;
  EXPECT_EQ(error_in("1 0:5\n", options), "index_base is 2: give 0 or 1");
}

TEST(Svmlight, SkipsAByteOrderMark) {
  EXPECT_EQ(parse("\xef\xbb\xbf"
                  "3 1:2\n")
                .labels()
                .number(0),
            3);
  EXPECT_EQ(error_in("\xef\xbb\xbf"
                     "3 1:x\n"),
            "t:1:5: 'x' is not a number");
  EXPECT_EQ(error_in(std::string_view("\xff\xfe"
                                      "1\0 \0",
                                      6)),
            "t: the text is UTF-16; convert it to UTF-8");
}

TEST(Svmlight, PadsColumnsAndPicksStorage) {
  ReadOptions options;
  options.min_features = 9;
  EXPECT_EQ(parse("1 1:1\n", options).cols(), 9);
  EXPECT_EQ(parse("1\n-1\n", options).rows(), 2);
  EXPECT_FALSE(parse("1 1:1 2:2\n-1 1:3 2:4\n").features().is_sparse());
  EXPECT_TRUE(parse("1 2147483646:1\n").features().is_sparse());
  EXPECT_EQ(parse("1 2147483646:1\n").cols(), 2147483646);
  EXPECT_EQ(parse("1 99:0 100:0\n1 1:1\n").cols(), 100);
}

TEST(Svmlight, NamesThePlaceOfEveryMistake) {
  const std::string good = "1 1:1\n-1 2:1\n";
  const auto bad = [&](const std::string& line) {
    return error_in(good + line + "\n1 1:1\nx y\n");
  };
  EXPECT_EQ(bad("1 5"), "t:3:3: '5' has no colon: features are written index:value");
  EXPECT_EQ(bad("1 1:1 abc"), "t:3:7: 'abc' has no colon: features are written index:value");
  EXPECT_EQ(bad("1 a:1"), "t:3:3: the index 'a' is not a whole number");
  EXPECT_EQ(bad("1 :1"), "t:3:3: the index '' is not a whole number");
  EXPECT_EQ(bad("1 1.5:1"), "t:3:3: the index '1.5' is not a whole number");
  EXPECT_EQ(bad("1 1:"), "t:3:5: the value after ':' is missing");
  EXPECT_EQ(bad("1 1: 2"), "t:3:5: the value after ':' is missing");
  EXPECT_EQ(bad("1 1:x"), "t:3:5: 'x' is not a number");
  EXPECT_EQ(bad("1 1:2x"), "t:3:5: '2x' is not a number");
  EXPECT_EQ(bad("1 1:2:3"), "t:3:5: '2:3' is not a number");
  EXPECT_EQ(bad("1 1:0x10"), "t:3:5: '0x10' is not a number");
  EXPECT_EQ(bad("1 1:1,5"), "t:3:5: '1,5' is not a number");
  EXPECT_EQ(bad("1 1:nan"), "t:3:5: 'nan' is not allowed: values must be finite");
  EXPECT_EQ(bad("1 1:-Inf"), "t:3:5: '-Inf' is not allowed: values must be finite");
  EXPECT_EQ(bad("1 1:1e39"), "t:3:5: '1e39' is too large for a 32-bit float");
  EXPECT_EQ(bad("1 1:-1e999"), "t:3:5: '-1e999' is too large for a 32-bit float");
  EXPECT_EQ(bad("1 0:1"),
            "t:3:3: index 0, but indices start at 1 (index-base 0 reads data that starts at 0)");
  EXPECT_EQ(bad("1 -3:1"), "t:3:3: index -3 is negative: indices start at 1");
  EXPECT_EQ(bad("1 5:1 3:1"), "t:3:7: index 3 after 5: indices must ascend within a row");
  EXPECT_EQ(bad("1 5:1 5:1"), "t:3:7: index 5 twice in one row");
  EXPECT_EQ(bad("1 2147483647:1"),
            "t:3:3: index 2147483647 is above the largest allowed, 2147483646");
  EXPECT_EQ(bad("1 18446744073709551617:1"),
            "t:3:3: index 18446744073709551617 is above the largest allowed, 2147483646");
  EXPECT_EQ(bad("nan 1:1"), "t:3:1: the label 'nan' is not finite");
  EXPECT_EQ(bad("-Infinity 1:1"), "t:3:1: the label '-Infinity' is not finite");
  EXPECT_EQ(bad("1e999 1:1"), "t:3:1: '1e999' is too large for a number");
  EXPECT_EQ(bad("1 qid:x 1:1"), "t:3:3: 'qid:x' is not a query number");
  EXPECT_EQ(bad(std::string("a\0b 1:1", 7)),
            "t:3:2: byte 0x00 in a label: this is not a text file");
  EXPECT_EQ(bad("a\xff 1:1"), "t:3:2: byte 0xff in a label is not UTF-8");
  EXPECT_EQ(bad(std::string("1 1:\0", 5)), "t:3:5: '\\x00' is not a number");
  ReadOptions numbers;
  numbers.text_labels = false;
  EXPECT_EQ(error_in(good + "cat 1:1\n", numbers), "t:3:1: the label 'cat' is not a number");
  EXPECT_EQ(error_in("1 1:x"), "t:1:5: 'x' is not a number");  // no line end
  EXPECT_EQ(error_in(good + "1 1:" + std::string(99, 'x')),
            "t:3:5: '" + std::string(40, 'x') + "...' is not a number");
}

TEST(Svmlight, RefusesFilesWithoutRowsOrFeatures) {
  EXPECT_EQ(error_in(""), "t: no rows: the file is empty");
  EXPECT_EQ(error_in("# only\n\n  # comments"),
            "t: no rows: only comments, blank lines or a header");
  EXPECT_EQ(error_in("1,2,3\n4,5,6\n").substr(0, 38), "t: no row has a feature (index:value);");
}

TEST(Svmlight, TakesLinesOfAnyLength) {
  std::string text = "1";
  for (int i = 1; i <= 50000; ++i) text += " " + std::to_string(i) + ":1";
  const Dataset data = parse(text + "\n2 1:1\n", {}, 2, 1000);
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.cols(), 50000);
}

TEST(Svmlight, DoesNotCareAboutTheLocale) {
  struct CommaDecimals : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaDecimals));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  const Dataset data = parse("1 1000:0.12345678901234567890 2000:1.5\n");
  TempFolder folder;
  write_dataset(folder / "x", data);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  EXPECT_EQ(data.features().at(0, 999), 0.12345679F);
  EXPECT_EQ(read_file(folder / "x"), "1 1000:0.12345679 2000:1.5\n");
}

TEST(Svmlight, CanBeCancelledAndKeepsToTheBudget) {
  TempFolder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "1 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8\n";
  write_file(folder / "x", text);
  const std::atomic<bool> stop{true};
  RunControl control;
  control.cancel = &stop;
  EXPECT_THROW(read_dataset(folder / "x", {}, control), Cancelled);
  control.cancel = nullptr;
  control.memory_bytes = 20000;
  EXPECT_THROW(read_dataset(folder / "x", {}, control), ResourceError);
  ReadOptions wide;
  wide.min_features = -1;
  EXPECT_THROW(read_dataset(folder / "x", wide), InvalidArgument);
}

// Any bytes give a data set or an Error that is the same for every way to run.
RC_GTEST_PROP(Svmlight, DamagedTextNeverCrashes, ()) {
  std::string text = "1 1:0.5 3:1e-3\n# c\n-1 2:1\n\n1 qid:3 1:1 2:2 3:3\r\n-1 1:7";
  const int changes = *rc::gen::inRange(1, 6);
  for (int c = 0; c < changes; ++c) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::oneOf(rc::gen::elementOf(std::string("\n\r\t :#-+.eEx019q,")),
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

}  // namespace
}  // namespace tamis::test

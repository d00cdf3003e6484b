// Binary tables of sparse rows: written and read back, mapped, and damaged.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/memory.hpp"
#include "support.hpp"
#include "support/resident_growth.hpp"
#include "tamis/error.hpp"

namespace tamis::test {
namespace {

Dataset small(Labels labels, std::vector<double> weights = {},
              std::vector<std::string> names = {}) {
  return Dataset(Matrix::sparse(5, {0, 2, 2, 3}, {1, 4, 0}, {0.5F, -2, 3}), std::move(labels),
                 std::move(weights), std::move(names));
}

class Csr : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  Dataset through(const Dataset& data) {
    write_dataset(folder_ / "a.csr", data);
    return read_dataset(folder_ / "a.csr");
  }
  // The error after one text of the header was replaced by another of the same length, or after
  // bytes behind the header were changed.
  std::string error_after(const std::string& from, const std::string& to) {
    write_dataset(folder_ / "a.csr", small(Labels::numeric({1, 2, 1})));
    std::string bytes = read_file(folder_ / "a.csr");
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
    write_file(folder_ / "a.csr", bytes);
    return error_of([&] { read_dataset(folder_ / "a.csr"); });
  }
  TempFolder folder_;
};

TEST_F(Csr, ReadsWhatWasWritten) {
  for (const Labels& labels :
       {Labels(), Labels::numeric({3, -0.5, 3}), Labels::text({"no", "yes", "no"})}) {
    const Dataset data = small(labels, {1, 0.5, 2}, {"a", "b", "", "d", "e"});
    const Dataset read = through(data);
    EXPECT_TRUE(same_data(read, data));
    EXPECT_EQ(read.cols(), 5);
    EXPECT_TRUE(read.features().is_sparse());
    EXPECT_EQ(read.feature_names()[3], "d");
    EXPECT_EQ(read.weight(1), 0.5);
  }
  const Dataset dense(Matrix::dense(2, 3, {0, 1, 0, 2, 0, 3}), Labels::numeric({1, 2}));
  EXPECT_TRUE(same_data(through(dense), dense));
  EXPECT_EQ(through(dense).features().num_stored(), 3);
}

TEST_F(Csr, IsKnownByItsContent) {
  write_dataset(folder_ / "a.csr", small(Labels::numeric({1, 2, 1})));
  std::filesystem::rename(folder_ / "a.csr", folder_ / "rows");
  EXPECT_EQ(read_dataset(folder_ / "rows").rows(), 3);
}

TEST_F(Csr, LabelsAsAskedFor) {
  write_dataset(folder_ / "a.csr", small(Labels::numeric({1, 2, 1})));
  ReadOptions options;
  options.labels_as_text = true;
  EXPECT_EQ(read_dataset(folder_ / "a.csr", options).labels(), Labels::text({"1", "2", "1"}));
  options = {};
  options.label_column = "none";
  EXPECT_TRUE(read_dataset(folder_ / "a.csr", options).labels().empty());
  options = {};
  options.text_labels = false;
  EXPECT_EQ(read_dataset(folder_ / "a.csr", options).labels(), Labels::numeric({1, 2, 1}));
  write_dataset(folder_ / "a.csr", small(Labels::text({"a", "b", "a"})));
  EXPECT_NE(error_of([&] { read_dataset(folder_ / "a.csr", options); }).find("are words"),
            std::string::npos);
}

TEST_F(Csr, DamageIsAnError) {
  EXPECT_NE(error_after("\"columns\":\"5\"", "\"columns\":\"2\"").find("row 0 has column 4"),
            std::string::npos);
  EXPECT_NE(error_after("\"columns\":\"5\"", "\"columns\":\"x\"").find("must be 0 to"),
            std::string::npos);
  EXPECT_NE(error_after("\"format_version\":\"1\"", "\"format_version\":\"9\"").find("version '9'"),
            std::string::npos);
  EXPECT_NE(error_after("row_begin", "row_begim").find("the table has no array 'row_begin'"),
            std::string::npos);
  const auto bytes_of = [](auto value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  EXPECT_NE(error_after(bytes_of(-2.0F), bytes_of(std::numeric_limits<float>::quiet_NaN()))
                .find("row 1, column 5 is nan"),
            std::string::npos);
  EXPECT_NE(error_after(bytes_of(std::int64_t{2}) + bytes_of(std::int64_t{2}),
                        bytes_of(std::int64_t{2}) + bytes_of(std::int64_t{-7}))
                .find("the row offset of row"),
            std::string::npos);
  EXPECT_NE(error_after(bytes_of(2.0), bytes_of(HUGE_VAL)).find("label 2 is inf"),
            std::string::npos);
  write_dataset(folder_ / "a.csr", small({}));
  const std::string whole = read_file(folder_ / "a.csr");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(folder_ / "a.csr", whole.substr(0, length));
    EXPECT_NE(error_of([&] { read_dataset(folder_ / "a.csr"); }), "") << length;
  }
}

// 18 MiB of values: above the size from which files are mapped.
TEST_F(Csr, LargeTablesAreMapped) {
  constexpr Index kRows = 1'000'000;
  std::vector<Index> row_begin(kRows + 1);
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  std::vector<double> labels;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < i % 4; ++k) {
      columns.push_back(static_cast<std::int32_t>(2 * k + i % 2));
      values.push_back(static_cast<float>(i % 977) + 1);
    }
    row_begin[usize(i + 1)] = static_cast<Index>(values.size());
    labels.push_back(static_cast<double>(i % 2));
  }
  const Dataset data(Matrix::sparse(7, row_begin, columns, values), Labels::numeric(labels));
  write_dataset(folder_ / "a.csr", data);
  const std::int64_t before = resident_memory_bytes();
  const Dataset read = read_dataset(folder_ / "a.csr");
  EXPECT_LT(resident_growth(before), 12 << 20);  // where rows begin is copied: 8 MB
  EXPECT_TRUE(read.features().is_mapped());
  EXPECT_TRUE(read.labels().is_mapped());
  EXPECT_EQ(read.labels(), data.labels());
  EXPECT_TRUE(std::equal(values.begin(), values.end(), read.features().sparse_values().begin()));
  EXPECT_TRUE(std::equal(columns.begin(), columns.end(), read.features().sparse_columns().begin()));
  ASSERT_EQ(truncate((folder_ / "a.csr").c_str(), 4096), 0);
  double sum = 0;
  for (const float v : read.features().sparse_values()) sum += static_cast<double>(v);
  EXPECT_GE(sum, 0);
  EXPECT_EQ(read.features().sparse_row(kRows - 1).values.size(), 3);
  for (const std::string name : {"b.csr", "b.npy", "b.svm", "b.csv"}) {
    EXPECT_NE(error_of([&] { write_dataset(folder_ / name, read); }), "") << name;
    EXPECT_FALSE(std::filesystem::exists(folder_ / name)) << name;
  }
  const std::vector<Index> last{kRows - 1};
  EXPECT_NE(error_of([&] { read.features().select(last); }).find("a.csr: the file changed"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read.require_intact(); }).find("a.csr: the file changed"),
            std::string::npos);
}

}  // namespace
}  // namespace tamis::test

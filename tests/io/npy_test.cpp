// NumPy files: element types, orders, labels, and damage.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "io/npy_header.hpp"
#include "support.hpp"

namespace tamis::test {
namespace {

std::string npy(const std::string& descr, const std::string& shape, std::string_view data,
                bool fortran = false, int version = 1) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += static_cast<char>(text.size());
  bytes += '\0';
  if (version > 1) bytes.append(2, '\0');
  return bytes + text + std::string(data);
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class Npy : public testing::Test {
 protected:
  Dataset read(const std::string& x, const std::string& y = "") {
    write_file(folder_ / "x.npy", x);
    if (!y.empty()) write_file(folder_ / "x.labels.npy", y);
    return read_dataset(folder_ / "x.npy");
  }
  // The error, without the folder.
  std::string error(const std::string& x, const std::string& y = "") {
    std::string text = error_of([&] { read(x, y); });
    const std::string prefix = folder_ / "";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }
  template <typename T>
  void expect_type(const std::string& descr) {
    for (const int version : {1, 2, 3}) {
      const Dataset data = read(npy(descr, "(2, 3)", raw<T>({0, 1, 2, 3, 4, 5}), false, version));
      EXPECT_EQ(data.rows(), 2);
      EXPECT_EQ(data.features().at(1, 2), 5) << descr;
      const Dataset turned = read(npy(descr, "(2, 3)", raw<T>({0, 1, 2, 3, 4, 5}), true, version));
      EXPECT_EQ(turned.features().at(1, 2), 5) << descr;
      EXPECT_EQ(turned.features().at(0, 1), 2) << descr;
    }
    const Dataset labelled =
        read(npy("<f4", "(2,)", raw<float>({7, 8})), npy(descr, "(2,)", raw<T>({1, 0})));
    EXPECT_EQ(labelled.labels(), Labels::numeric({1, 0}));
    EXPECT_EQ(labelled.cols(), 1);
    std::filesystem::remove(folder_ / "x.labels.npy");
  }
  TempFolder folder_;
};

TEST_F(Npy, ReadsEveryElementType) {
  expect_type<float>("<f4");
  expect_type<double>("<f8");
  expect_type<std::int8_t>("|i1");
  expect_type<std::int16_t>("<i2");
  expect_type<std::int32_t>("<i4");
  expect_type<std::int64_t>("<i8");
  expect_type<std::uint8_t>("|u1");
  expect_type<std::uint16_t>("<u2");
  expect_type<std::uint32_t>("<u4");
  expect_type<std::uint64_t>("<u8");
  EXPECT_EQ(read(npy("|b1", "(2, 1)", std::string("\1\0", 2))).features().at(0, 0), 1);
}

TEST_F(Npy, ReadsStringLabels) {
  const std::string x = npy("<f4", "(2, 1)", raw<float>({1, 2}));
  EXPECT_EQ(read(x, npy("<U3", "(2,)", raw<char32_t>({U'a', U'\u00e9', U'\U0001F600', U'b', 0, 0})))
                .labels(),
            Labels::text({"a\xc3\xa9\xf0\x9f\x98\x80", "b"}));
  EXPECT_EQ(read(x, npy("|S2", "(2, 1)", std::string("abc\0", 4))).labels(),
            Labels::text({"ab", "c"}));
  EXPECT_EQ(error(x, npy("|S2", "(2,)", std::string("ab\0\0", 4))),
            "x.labels.npy: label 2 is empty");
  EXPECT_EQ(error(x, npy("<U1", "(2,)", raw<char32_t>({0xD800, U'x'}))),
            "x.labels.npy: label 1: byte 0xed in a label is not UTF-8");
  EXPECT_EQ(error(x, npy("<U3", "(2,)", raw<char32_t>({U'b', 0, U'c', U'x', 0, 0}))),
            "x.labels.npy: label 1: character 0 within a label");
  EXPECT_EQ(error(x, npy("<U1", "(2,)", raw<char32_t>({U'x', 0xFFFFFFFF}))),
            "x.labels.npy: label 2: 0xffffffff is no character");
}

TEST_F(Npy, FindsItsLabels) {
  const std::string x = npy("<f4", "(1, 1)", raw<float>({1}));
  EXPECT_EQ(read(x).labels().kind(), LabelKind::none);
  write_file(folder_ / "x_labels.npy", npy("<f8", "(1,)", raw<double>({5})));
  EXPECT_EQ(read(x).labels(), Labels::numeric({5}));
  write_file(folder_ / "other", npy("<f8", "(1,)", raw<double>({6})));
  ReadOptions options;
  options.labels_path = folder_ / "other";
  options.min_features = 4;
  const Dataset data = read_dataset(folder_ / "x.npy", options);
  EXPECT_EQ(data.labels(), Labels::numeric({6}));
  EXPECT_EQ(data.cols(), 4);
  EXPECT_EQ(error(x, npy("<f8", "(2,)", raw<double>({6, 7}))),
            "x.labels.npy: 2 labels, but x.npy has 1 row");
  EXPECT_EQ(error(x, npy("<f8", "(1,)", raw<double>({std::numeric_limits<double>::infinity()}))),
            "x.labels.npy: label 1 is inf: labels must be finite");
}

TEST_F(Npy, LongWholeNumbersStayApart) {
  const std::string x = npy("<f4", "(3,)", raw<float>({1, 2, 3}));
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(read(x, npy("<i8", "(3,)", raw<std::int64_t>({large, large - 1, -large}))).labels(),
            Labels::text({"9007199254740993", "9007199254740992", "-9007199254740993"}));
  EXPECT_EQ(read(x, npy("<u8", "(3,)", raw<std::uint64_t>({~0ULL, ~0ULL - 1, 0}))).labels(),
            Labels::text({"18446744073709551615", "18446744073709551614", "0"}));
  EXPECT_EQ(read(x, npy("<i8", "(3,)", raw<std::int64_t>({large - 1, 2, 3}))).labels(),
            Labels::numeric({0x1p53, 2, 3}));
}

TEST_F(Npy, LargeArraysInBothOrders) {
  constexpr Index kRows = 1500;
  constexpr Index kCols = 700;
  std::vector<float> by_row(kRows * kCols);
  std::vector<float> by_column(by_row.size());
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kCols; ++j) {
      const auto value = static_cast<float>(i * 1000 + j);
      by_row[static_cast<std::size_t>(i * kCols + j)] = value;
      by_column[static_cast<std::size_t>(j * kRows + i)] = value;
    }
  }
  const Dataset rows = read(npy("<f4", "(1500, 700)", raw(by_row)));
  EXPECT_TRUE(std::equal(by_row.begin(), by_row.end(), rows.features().dense_values().begin()));
  const Dataset turned = read(npy("<f4", "(1500, 700)", raw(by_column), true));
  EXPECT_TRUE(std::equal(by_row.begin(), by_row.end(), turned.features().dense_values().begin()));
  for (const auto& [row, col] : {std::pair<Index, Index>{1400, 3}, {900, 650}, {900, 20}})
    by_column[static_cast<std::size_t>(col * kRows + row)] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error(npy("<f4", "(1500, 700)", raw(by_column), true)),
            "x.npy: row 901, column 21 is inf: values must be finite 32-bit floats");
}

TEST_F(Npy, EmptyArraysAreRefusedWhateverTheirShape) {
  EXPECT_EQ(error(npy("<f4", "(1000000000, 0)", "")), "x.npy: no columns: the array is empty");
  EXPECT_EQ(error(npy("<f4", "(0, 5)", "")), "x.npy: no rows: the array is empty");
  const std::string x = npy("<f4", "(2,)", raw<float>({1, 2}));
  EXPECT_NE(error(x, npy("|S0", "(1000000000,)", "")).find("element type '|S0'"),
            std::string::npos);
  EXPECT_EQ(error(x, npy("<f4", "(3,)", raw<float>({1, 2, 3}))),
            "x.labels.npy: 3 labels, but x.npy has 2 rows");
}

TEST_F(Npy, RefusesWhatItCannotRead) {
  const std::string data = raw<float>({1, 2});
  EXPECT_EQ(error(""), "x.npy: no rows: the file is empty");
  EXPECT_EQ(error("1 1:2\n"), "x.npy: not a NumPy .npy file");
  EXPECT_EQ(error("\x93NUMPY"), "x.npy: the NumPy header is cut short");
  EXPECT_EQ(error(npy("<f4", "(2, 1)", data, false, 9)),
            "x.npy: NumPy format version 9: 1, 2 and 3 are known");
  EXPECT_EQ(error(npy("<f4", "(3, 1)", data)),
            "x.npy: 8 bytes of data, but the header promises 12");
  EXPECT_EQ(error(npy("<f4", "(9223372036854775807, 9)", data)),
            "x.npy: the NumPy header is damaged: the size of the array overflows 64 bits");
  EXPECT_EQ(error(npy("<f4", "(-1, 1)", data)), "x.npy: the NumPy header is damaged");
  EXPECT_EQ(error(npy(">f4", "(2, 1)", data)),
            "x.npy: element type '>f4' is big-endian; save it little-endian");
  EXPECT_EQ(error(npy("<c8", "(1, 1)", data)),
            "x.npy: element type '<c8': allowed are f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, and strings "
            "as labels");
  EXPECT_EQ(error(npy("|O", "(1, 1)", data)),
            "x.npy: the array holds Python objects; save numbers or fixed-length strings");
  EXPECT_EQ(error(npy("<U1", "(2, 1)", data)), "x.npy: the features are strings, not numbers");
  EXPECT_EQ(error(npy("<f4", "(1, 1, 2)", data)),
            "x.npy: 3 dimensions: features have two, rows and columns");
  EXPECT_EQ(error(npy("<f4", "(0, 2)", "")), "x.npy: no rows: the array is empty");
  EXPECT_EQ(error(npy("<f4", "(1, 2)", raw<float>({1, std::numeric_limits<float>::quiet_NaN()}))),
            "x.npy: row 1, column 2 is nan: values must be finite 32-bit floats");
  EXPECT_EQ(error(npy("<f8", "(1, 1)", raw<double>({1e60}))),
            "x.npy: row 1, column 1 is 1e+60: values must be finite 32-bit floats");
}

TEST_F(Npy, SurvivesEveryTruncationAndFlippedByte) {
  const std::string good = npy("<f4", "(2, 3)", raw<float>({0, 1, 2, 3, 4, 5}));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(error(good.substr(0, size)), "") << size;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char flip : {'\x01', '\x20', '\x7f'}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      error(bad);  // a data set or an Error, never a crash
    }
  }
}

TEST(NpyHeader, IsAlignedAndReadsBack) {
  for (Index cols = 1; cols < 1000000000000; cols *= 10) {
    const std::string header = npy_header("<U5", {0, cols});
    EXPECT_EQ(header.size() % 64, 0U);
    const NpyArray array = read_npy_header("h", {header, nullptr, 0});
    EXPECT_EQ(array.shape, (std::vector<Index>{0, cols}));
    EXPECT_EQ(array.item_bytes, 20);
  }
}

}  // namespace
}  // namespace tamis::test

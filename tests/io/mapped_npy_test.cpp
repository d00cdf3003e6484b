// NumPy arrays that are used where they lie: the same rows as those that are read, checked once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "base/memory.hpp"
#include "data/copy_rows.hpp"
#include "io/checked_files.hpp"
#include "io/npy_header.hpp"
#include "support.hpp"
#include "support/resident_growth.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::test {
namespace {

constexpr Index kRows = 2'200'000;  // 17 MiB: above kMappedBytes
constexpr Index kCols = 2;

class MappedNpy : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  static std::vector<float> values() {
    std::vector<float> all(kRows * kCols);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i % 1009) * 0.5F;
    return all;
  }
  template <typename T>
  void write(const std::string& name, const char* type, const std::vector<Index>& shape,
             const std::vector<T>& all) {
    std::string bytes = npy_header(type, shape);
    bytes.append(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T));
    write_file(folder_ / name, bytes);
  }
  void write_rows() { write("x.npy", "<f4", {kRows, kCols}, values()); }
  template <typename T>
  void expect_labels(const char* type) {
    std::vector<T> labels(usize(Index{18} << 20) / sizeof(T));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<T>(i % 3);
    const auto rows = static_cast<Index>(labels.size());
    write("y.npy", "<f4", {rows, 1}, std::vector<float>(labels.size(), 1.0F));
    write("y.labels.npy", type, {rows}, labels);
    const Dataset data = read_dataset(folder_ / "y.npy");
    EXPECT_TRUE(data.labels().is_mapped()) << type;
    ASSERT_EQ(data.labels().size(), rows);
    for (Index i = 0; i < rows; i += 1001)
      ASSERT_EQ(data.labels().number(i), static_cast<double>(i % 3)) << type;
    EXPECT_EQ(data.labels().name(5), "2");
    const std::vector<Index> some{4, 1};
    EXPECT_EQ(data.labels().select(some), Labels::numeric({1, 1}));
    EXPECT_EQ(distinct_classes(data.labels()), Labels::numeric({0, 1, 2}));
  }
  // Long enough ago to be remembered.
  static void let_settle() { std::this_thread::sleep_for(std::chrono::milliseconds(1100)); }

  TempFolder folder_;
};

TEST_F(MappedNpy, RowsAreThoseOfTheFile) {
  write_rows();
  const std::int64_t before = resident_memory_bytes();
  const Dataset data = read_dataset(folder_ / "x.npy");
  EXPECT_LT(resident_growth(before), 8 << 20);
  EXPECT_TRUE(data.features().is_mapped());
  EXPECT_TRUE(data.features().is_known_finite());
  ASSERT_EQ(data.rows(), kRows);
  const auto all = values();
  EXPECT_TRUE(std::equal(all.begin(), all.end(), data.features().dense_values().begin()));
  EXPECT_NO_THROW(data.require_intact());
}

TEST_F(MappedNpy, NeedsNoMemory) {
  write_rows();
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (4 << 20);
  EXPECT_EQ(read_dataset(folder_ / "x.npy", {}, control).rows(), kRows);
}

TEST_F(MappedNpy, OtherLayoutsAreRead) {
  const auto all = values();
  write("x.npy", "<f8", {kRows, kCols}, std::vector<double>(all.begin(), all.end()));
  const Dataset data = read_dataset(folder_ / "x.npy");
  EXPECT_FALSE(data.features().is_mapped());
  EXPECT_EQ(data.features().at(7, 1), all[15]);
}

TEST_F(MappedNpy, LabelsOfEveryType) {
  expect_labels<double>("<f8");
  expect_labels<float>("<f4");
  expect_labels<std::int64_t>("<i8");
  expect_labels<std::uint64_t>("<u8");
  expect_labels<std::int32_t>("<i4");
  expect_labels<std::uint32_t>("<u4");
  expect_labels<std::int16_t>("<i2");
  expect_labels<std::uint16_t>("<u2");
  expect_labels<std::int8_t>("|i1");
  expect_labels<std::uint8_t>("|u1");
}

TEST_F(MappedNpy, LabelsOfManyDigitsBecomeText) {
  std::vector<std::int64_t> labels(kRows, 1);
  labels[kRows - 2] = (std::int64_t{1} << 53) + 1;
  write_rows();
  write("x.labels.npy", "<i8", {kRows}, labels);
  const Dataset data = read_dataset(folder_ / "x.npy");
  EXPECT_EQ(data.labels().kind(), LabelKind::text);
  EXPECT_EQ(data.labels().name(kRows - 2), "9007199254740993");
}

TEST_F(MappedNpy, BadValuesAreNamed) {
  for (const Index place : {Index{5}, kRows * kCols - 1}) {
    auto all = values();
    all[usize(place)] = std::numeric_limits<float>::quiet_NaN();
    write("x.npy", "<f4", {kRows, kCols}, all);
    const std::string error = error_of([&] { read_dataset(folder_ / "x.npy"); });
    EXPECT_NE(error.find("row " + std::to_string(place / kCols + 1) + ", column " +
                         std::to_string(place % kCols + 1) + " is nan: values must be finite"),
              std::string::npos)
        << error;
    ReadOptions missing;
    missing.missing_values = true;
    const Dataset data = read_dataset(folder_ / "x.npy", missing);
    EXPECT_TRUE(data.features().is_mapped());
    EXPECT_FALSE(data.features().is_known_finite());
    EXPECT_TRUE(std::isnan(data.features().dense_values()[usize(place)]));
  }
  std::vector<double> labels(kRows, 1);
  labels[9] = std::numeric_limits<double>::infinity();
  write_rows();
  write("x.labels.npy", "<f8", {kRows}, labels);
  EXPECT_NE(error_of([&] {
              read_dataset(folder_ / "x.npy");
            }).find("label 10 is inf: labels must be finite"),
            std::string::npos);
}

// The stamp is all that a second run looks at; it changes with the file.
TEST_F(MappedNpy, IsCheckedOnce) {
  write_rows();
  let_settle();
  read_dataset(folder_ / "x.npy");
  const int opened = open((folder_ / "x.npy").c_str(), O_RDONLY);
  const FileStamp first = file_stamp(opened);
  close(opened);
  EXPECT_TRUE(was_found(first, "finite"));
  EXPECT_FALSE(was_found(first, "labels"));
  FileStamp other = first;
  ++other.altered_ns;
  EXPECT_FALSE(was_found(other, "finite"));
  // A value that is no number, with the size and the time as they were.
  const int fd = open((folder_ / "x.npy").c_str(), O_WRONLY);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ASSERT_EQ(pwrite(fd, &nan, sizeof nan, 4096), 4);
  const timespec times[2] = {{first.written_ns / 1'000'000'000, first.written_ns % 1'000'000'000},
                             {first.written_ns / 1'000'000'000, first.written_ns % 1'000'000'000}};
  ASSERT_EQ(futimens(fd, times), 0);
  close(fd);
  EXPECT_NE(error_of([&] { read_dataset(folder_ / "x.npy"); }).find("is nan"), std::string::npos);
}

TEST_F(MappedNpy, FreshFilesAreNotRemembered) {
  FileStamp now;
  now.inode = 1;
  now.altered_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  remember_finding(now, "finite");
  EXPECT_FALSE(was_found(now, "finite"));
  now.altered_ns -= 2'000'000'000;
  remember_finding(now, "finite");
  EXPECT_TRUE(was_found(now, "finite"));
}

TEST_F(MappedNpy, RemembersWithManyAtOnce) {
  FileStamp file;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      FileStamp own;
      for (int i = 0; i < 50; ++i) {
        own.inode = static_cast<std::uint64_t>(i) + 1;
        own.size = t % 2;
        remember_finding(own, "finite");
        was_found(own, "finite");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 50; ++i) {
    int found = 0;
    file.inode = static_cast<std::uint64_t>(i) + 1;
    for (const int size : {0, 1}) {
      file.size = size;
      found += was_found(file, "finite") ? 1 : 0;
    }
    EXPECT_EQ(found, 1) << "the last of them";
  }
}

TEST_F(MappedNpy, NoCacheFolderIsNoError) {
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  write_rows();
  let_settle();
  EXPECT_EQ(read_dataset(folder_ / "x.npy").rows(), kRows);
}

TEST_F(MappedNpy, TruncatedFileEndsPredictionWithAnError) {
  write_rows();
  std::vector<float> few{0, 0, 1, 1, 500, 500, 501, 501};
  TrainOptions options;
  options.method = "linear";
  const Model model =
      train(Dataset(Matrix::dense(4, 2, few), Labels::numeric({0, 0, 1, 1})), options).model;
  const Dataset data = read_dataset(folder_ / "x.npy");
  const Matrix copy = unmapped_rows(data.features(), {});
  EXPECT_FALSE(copy.is_mapped());
  ASSERT_EQ(truncate((folder_ / "x.npy").c_str(), 1 << 20), 0);
  const auto all = values();
  EXPECT_TRUE(std::equal(all.begin(), all.end(), copy.dense_values().begin()));
  const std::string error = error_of([&] { predict(model, data); });
  EXPECT_NE(error.find("x.npy: the file changed while it was read"), std::string::npos) << error;
}

}  // namespace
}  // namespace tamis::test

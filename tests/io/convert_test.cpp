// Conversion block by block: the same files as in memory, also after a stop.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>

#include "io/convert.hpp"
#include "support.hpp"
#include "tamis/error.hpp"

namespace tamis::test {
namespace {

std::string svmlight(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += i % 3 == 0 ? "1" : "-1";
    if (i % 5 != 0) text += " 2:" + std::to_string(i) + ".5";
    if (i % 7 == 0) text += " " + std::to_string(3 + i / 10) + ":0.25";
    text += i % 11 == 0 ? " # comment\n" : "\n";
  }
  return text;
}

std::string csv(int rows, bool has_header, bool has_words) {
  std::string text = has_header ? "u,v,w,label\n" : "";
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i) + ",0." + std::to_string(i % 10) + "," + std::to_string(i % 2) + ",";
    text += (has_words ? (i % 3 == 0 ? "blue" : "red") : (i % 3 == 0 ? "4" : "5"));
    text += "\n";
  }
  return text;
}

class Convert : public testing::Test {
 protected:
  // Both ways to every format, and both files are the same.
  void expect_same(const std::string& input, const ReadOptions& read = {}) {
    for (const std::string ending : {"npy", "csr", "csv", "svm"}) {
      const std::string whole = folder_ / ("whole." + ending);
      write_dataset(whole, read_dataset(input, read));
      for (const std::int64_t bytes : {40, 300, 100'000}) {
        const std::string pieces = folder_ / ("pieces." + ending);
        const Converted done = convert_in_pieces(input, read, pieces, {}, {}, bytes);
        EXPECT_FALSE(done.continued);
        EXPECT_EQ(read_file(pieces), read_file(whole)) << ending << ", " << bytes;
        if (ending == "npy" && std::filesystem::exists(folder_ / "whole.labels.npy")) {
          EXPECT_EQ(read_file(folder_ / "pieces.labels.npy"),
                    read_file(folder_ / "whole.labels.npy"));
        }
        EXPECT_FALSE(std::filesystem::exists(pieces + ".parts"));
      }
    }
  }
  TempFolder folder_;
};

TEST_F(Convert, SvmlightText) {
  write_file(folder_ / "a.svm", svmlight(300));
  expect_same(folder_ / "a.svm");
  ReadOptions as_text;
  as_text.labels_as_text = true;
  expect_same(folder_ / "a.svm", as_text);
}

TEST_F(Convert, Tables) {
  for (const bool has_header : {true, false}) {
    for (const bool has_words : {true, false}) {
      write_file(folder_ / "a.csv", csv(200, has_header, has_words));
      expect_same(folder_ / "a.csv");
    }
  }
}

TEST_F(Convert, WeightsOfRows) {
  write_file(folder_ / "a.csv", csv(200, true, false));
  ReadOptions read;
  read.weight_column = "u";
  write_dataset(folder_ / "whole.csr", read_dataset(folder_ / "a.csv", read));
  convert_in_pieces(folder_ / "a.csv", read, folder_ / "pieces.csr", {}, {}, 100);
  EXPECT_EQ(read_file(folder_ / "pieces.csr"), read_file(folder_ / "whole.csr"));
}

// Stopped anywhere, the next run continues and the file is the same.
TEST_F(Convert, ContinuesAfterAStop) {
  for (const std::string name : {"a.svm", "a.csv"}) {
    write_file(folder_ / name, name == "a.svm" ? svmlight(5000) : csv(5000, true, true));
    const std::string bad = folder_ / ("bad-" + name);
    const std::string whole = folder_ / "whole.csr";
    write_dataset(whole, read_dataset(folder_ / name));
    const std::string text = read_file(folder_ / name);
    for (const double share : {0.1, 0.5, 0.9}) {
      // A line that is no row stops the first run; it is mended in place, as long and as old.
      std::string broken = text;
      const std::size_t line =
          broken.find('\n', static_cast<std::size_t>(share * static_cast<double>(text.size()))) + 1;
      const char original = broken[line];
      broken[line] = '\001';
      write_file(bad, broken);
      const timespec past[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
      ASSERT_EQ(utimensat(AT_FDCWD, bad.c_str(), past, 0), 0);
      const std::string out = folder_ / "out.csr";
      EXPECT_NE(error_of([&] { convert_in_pieces(bad, {}, out, {}, {}, 500); }), "");
      EXPECT_FALSE(std::filesystem::exists(out));
      broken[line] = original;
      write_file(bad, broken);
      ASSERT_EQ(utimensat(AT_FDCWD, bad.c_str(), past, 0), 0);
      const Converted done = convert_in_pieces(bad, {}, out, {}, {}, 700);
      EXPECT_TRUE(done.continued) << share;
      EXPECT_EQ(read_file(out), read_file(whole)) << name << " " << share;
      std::filesystem::remove(out);
    }
  }
}

TEST_F(Convert, AnotherInputBeginsAnew) {
  write_file(folder_ / "a.svm", svmlight(500) + "1 x\n");
  EXPECT_NE(
      error_of([&] { convert_in_pieces(folder_ / "a.svm", {}, folder_ / "o.csr", {}, {}, 99); }),
      "");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "o.csr.parts"));
  write_file(folder_ / "a.svm", svmlight(400));
  const Converted done = convert_in_pieces(folder_ / "a.svm", {}, folder_ / "o.csr", {}, {}, 99);
  EXPECT_FALSE(done.continued);
  EXPECT_EQ(done.rows, 400);
}

TEST_F(Convert, TwoRunsExcludeEachOther) {
  write_file(folder_ / "a.svm", svmlight(10));
  std::filesystem::create_directory(folder_ / "o.csr.parts");
  const int fd = open((folder_ / "o.csr.parts").c_str(), O_RDONLY);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  EXPECT_NE(error_of([&] {
              convert_in_pieces(folder_ / "a.svm", {}, folder_ / "o.csr", {}, {}, 99);
            }).find("another run is converting"),
            std::string::npos);
  close(fd);
  // A file of somebody else stays.
  write_file(folder_ / "o.csr.parts/notes", "mine");
  EXPECT_EQ(convert_in_pieces(folder_ / "a.svm", {}, folder_ / "o.csr", {}, {}, 99).rows, 10);
  EXPECT_EQ(read_file(folder_ / "o.csr.parts/notes"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o.csr.parts/values"));
}

TEST_F(Convert, MixedLabelsAreAnError) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += (i < 50 ? "1" : "red") + std::string(" 1:1\n");
  write_file(folder_ / "a.svm", text);
  EXPECT_NE(error_of([&] {
              convert_in_pieces(folder_ / "a.svm", {}, folder_ / "o.npy", {}, {}, 99);
            }).find("some labels are numbers and some are words"),
            std::string::npos);
}

TEST_F(Convert, SmallFilesAsBefore) {
  write_file(folder_ / "a.svm", svmlight(10));
  EXPECT_EQ(convert_dataset(folder_ / "a.svm", {}, folder_ / "o.npy").rows, 10);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o.npy.parts"));
}

}  // namespace
}  // namespace tamis::test

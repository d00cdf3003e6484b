// OutputFile and write_dataset(): what is written reads back, and failures leave old files alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "io/output_file.hpp"
#include "support.hpp"

namespace tamis::test {
namespace {

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  TempFolder folder;
  write_file(folder / "x", "old");
  chmod((folder / "x").c_str(), 0640);
  {
    OutputFile file(folder / "x");
    file.write("new");
  }
  EXPECT_EQ(read_file(folder / "x"), "old");
  EXPECT_EQ(folder.count(), 1U);  // the temporary is gone
  {
    OutputFile file(folder / "x");
    const std::string large(std::size_t{3} << 20, 'a');
    file.write("new");
    file.write(large);
    file.write("end");
    EXPECT_EQ(read_file(folder / "x"), "old");
    file.commit();
    EXPECT_EQ(read_file(folder / "x"), "new" + large + "end");
  }
  EXPECT_EQ(folder.count(), 1U);
  struct stat info {};
  stat((folder / "x").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
}

TEST(OutputFile, FollowsLinks) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "sub");
  write_file(folder / "sub/real", "old");
  std::filesystem::create_symlink("sub/real", folder / "link");
  std::filesystem::create_symlink("sub/later", folder / "dangling");
  for (const char* name : {"link", "dangling"}) {
    OutputFile file(folder / name);
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder / name));
  }
  EXPECT_EQ(read_file(folder / "sub/real"), "new");
  EXPECT_EQ(read_file(folder / "sub/later"), "new");
}

// Leaves `count` temporary files behind, as a process that is killed does.
void write_and_die(const std::string& path, int count) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<std::unique_ptr<OutputFile>> files;
    for (int i = 0; i < count; ++i) files.push_back(std::make_unique<OutputFile>(path));
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

TEST(OutputFile, RemovesWhatKilledProcessesLeft) {
  TempFolder folder;
  write_and_die(folder / "x", 3);
  EXPECT_EQ(folder.count(), 3U);
  {
    OutputFile other(folder / "y");  // not its business
    EXPECT_EQ(folder.count(), 4U);
  }
  OutputFile file(folder / "x");
  EXPECT_EQ(folder.count(), 1U);
  file.write("new");
  file.commit();
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(read_file(folder / "x"), "new");
}

TEST(OutputFile, LeavesTheFilesOfLiveWritersAlone) {
  TempFolder folder;
  OutputFile first(folder / "x");
  OutputFile second(folder / "x");
  EXPECT_EQ(folder.count(), 2U);
  first.write("first");
  first.commit();
  OutputFile third(folder / "x");
  EXPECT_EQ(folder.count(), 3U);
  third.write("third");
  third.commit();
  second.write("second");
  second.commit();
  EXPECT_EQ(read_file(folder / "x"), "second");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(OutputFile, ManyWritersOfOneFileLeaveAWholeOne) {
  TempFolder folder;
  std::vector<std::thread> writers;
  for (int w = 0; w < 8; ++w) {
    writers.emplace_back([&folder, w] {
      for (int i = 0; i < 20; ++i) {
        OutputFile file(folder / "x");
        file.write(std::string(10000, static_cast<char>('a' + w)));
        file.commit();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = read_file(folder / "x");
  EXPECT_EQ(text, std::string(10000, text.empty() ? '?' : text[0]));
  EXPECT_EQ(folder.count(), 1U);
}

// The number of a closed standard output goes to the next file opened. Such a file is written, and
// what somebody prints meanwhile does not end up in it.
TEST(OutputFile, AClosedStandardOutputIsNoFile) {
  TempFolder folder;
  const int kept = dup(STDOUT_FILENO);
  close(STDOUT_FILENO);
  {
    OutputFile file(folder / "f");
    file.write("content");
    EXPECT_EQ(::write(STDOUT_FILENO, "printed", 7), -1);
    file.commit();
  }
  dup2(kept, STDOUT_FILENO);
  close(kept);
  EXPECT_EQ(read_file(folder / "f"), "content");
}

TEST(OutputFile, SaysWhyItFails) {
  TempFolder folder;
  EXPECT_EQ(error_of([] {
              OutputFile file("/dev/full");
              file.write("x");
              file.commit();
            }),
            "/dev/full: cannot write: No space left on device");
  EXPECT_EQ(error_of([&] { OutputFile file(folder / "none/x"); }),
            (folder / "none/x") + ": cannot create: No such file or directory");
  EXPECT_EQ(error_of([&] { OutputFile file(folder / "."); }),
            (folder / ".") + ": cannot write: it is a folder");
  OutputFile null("/dev/null");
  null.write("x");
  null.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

Dataset small() {
  return Dataset(Matrix::dense(2, 3, {1, 0, 2.5F, 0, -1e-20F, 0}), Labels::numeric({1, -1}), {},
                 {"a", "b \"x\"", "c,d"});
}

TEST(WriteDataset, WritesTheTextExpected) {
  TempFolder folder;
  write_dataset(folder / "x", small());
  EXPECT_EQ(read_file(folder / "x"), "1 1:1 3:2.5\n-1 2:-1e-20\n");
  WriteOptions options;
  options.index_base = 0;
  write_dataset(folder / "x", Dataset(small().features()), options);
  EXPECT_EQ(read_file(folder / "x"), "0:1 2:2.5\n1:-1e-20\n");
  write_dataset(folder / "x.csv", small());
  EXPECT_EQ(read_file(folder / "x.csv"),
            "a,\"b \"\"x\"\"\",\"c,d\",label\n1,0,2.5,1\n0,-1e-20,0,-1\n");
  write_dataset(folder / "x.csv",
                Dataset(small().features(), Labels::text({"p q", "r,s"}), {1, 2}));
  EXPECT_EQ(read_file(folder / "x.csv"),
            "f1,f2,f3,weight,label\n1,0,2.5,1,p q\n0,-1e-20,0,2,\"r,s\"\n");
}

TEST(WriteDataset, KeepsRowsOfZeros) {
  TempFolder folder;
  write_dataset(folder / "x", Dataset(Matrix::dense(2, 2, {0, 0, 1, 0})));
  EXPECT_EQ(read_file(folder / "x"), "1:0\n1:1\n");
  EXPECT_EQ(read_dataset(folder / "x").rows(), 2);
}

TEST(WriteDataset, RefusesWhatWouldNotReadBack) {
  TempFolder folder;
  write_file(folder / "x", "old");
  const auto error = [&](const Dataset& data, const std::string& name = "x") {
    return error_of([&] { write_dataset(folder / name, data); });
  };
  const Matrix one = Matrix::dense(1, 1, {1});
  EXPECT_EQ(error(Dataset(one, Labels::text({"a b"}))),
            "row 1: svmlight text cannot hold the label 'a b' (blank, ':' or '#'); write CSV");
  EXPECT_EQ(error(Dataset(one, Labels::text({"nan"}))), "row 1: the label 'nan' is not finite");
  EXPECT_EQ(error(Dataset(one, Labels::text({""}))), "row 1: the label is empty");
  EXPECT_EQ(error(Dataset(one, Labels::numeric({std::nan("")}))),
            "row 1: the label is nan: it must be finite");
  EXPECT_EQ(error(Dataset(one, Labels::numeric({std::nan("")})), "x.npy"),
            "row 1: the label is nan: it must be finite");
  EXPECT_EQ(error(Dataset(one, {}, {2})), "svmlight text has no place for row weights; write CSV");
  EXPECT_EQ(error(Dataset(Matrix::dense(1, 1, {std::numeric_limits<float>::infinity()}))),
            "row 1, column 1 is inf: values must be finite");
  EXPECT_EQ(error(Dataset()), (folder / "x") + ": no rows to write");
  EXPECT_EQ(error(Dataset(one), "x.gz"),
            (folder / "x.gz") +
                ": compressed output is not supported; write plain text and compress that");
  EXPECT_EQ(error(Dataset(one, Labels::text({"a\nb"})), "x.csv"),
            "row 1: byte 0x0a in a label: this is not a text file");
  EXPECT_EQ(error(Dataset(one, Labels::numeric({5}), {}, {"label"}), "x.csv"),
            "feature 1 is called 'label', as the column of labels will be: rename it, or write "
            "another format");
  EXPECT_EQ(error(Dataset(one, {}, {2}, {"weight"}), "x.csv"),
            "feature 1 is called 'weight', as the column of weights will be: rename it, or write "
            "another format");
  EXPECT_EQ(read_file(folder / "x"), "old");
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(error_of([&] { write_dataset("/dev/full", Dataset(one)); }),
            "/dev/full: cannot write: No space left on device");
}

TEST(WriteDataset, StaleLabelsAreNotTakenForNewOnes) {
  TempFolder folder;
  const Matrix one = Matrix::dense(1, 1, {1});
  write_dataset(folder / "x.npy", Dataset(one, Labels::numeric({1})));
  EXPECT_THROW(write_dataset(folder / "x.npy", Dataset(one)), IoError);
  EXPECT_EQ(read_dataset(folder / "x.npy").labels(), Labels::numeric({1}));
}

TEST(WriteDataset, ReportsTheFirstBadRowWhateverTheThreads) {
  TempFolder folder;
  std::vector<float> values(200000, 1.0F);
  values[70001] = values[150000] = std::numeric_limits<float>::infinity();
  const Dataset data(Matrix::dense(100000, 2, values));
  for (const int threads : {1, 2, 5}) {
    RunControl control;
    control.threads = threads;
    EXPECT_EQ(error_of([&] { write_dataset(folder / "x", data, {}, control); }),
              "row 35001, column 2 is inf: values must be finite");
  }
}

// Every float survives, in every format and with every number of threads.
TEST(WriteDataset, FloatsSurvive) {
  TempFolder folder;
  std::mt19937 random(7);
  std::vector<float> values{std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::min(),
                            std::numeric_limits<float>::denorm_min(),
                            1.17549421e-38F,
                            0.1F,
                            -0.3F};
  while (values.size() < 300000) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) values.push_back(value);
  }
  const Dataset data(Matrix::dense(100000, 3, values));
  ReadOptions options;
  options.label_column = "none";
  for (const char* name : {"x", "x.csv", "x.npy"}) {
    std::string first;
    for (const int threads : {1, 2, 5}) {
      RunControl control;
      control.threads = threads;
      write_dataset(folder / name, data, {}, control);
      if (threads == 1) first = read_file(folder / name);
      EXPECT_TRUE(read_file(folder / name) == first) << name;
      EXPECT_TRUE(same_data(read_dataset(folder / name, options, control), data)) << name;
    }
  }
}

rc::Gen<std::string> word() {
  return rc::gen::nonEmpty(rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("abcXYZ_-+./()[]{}|!?*%&=<>~^$@'"))));
}

// A random data set whose labels stay what they are: words begin with a letter.
Dataset random_dataset(bool weights) {
  const Index rows = *rc::gen::inRange(1, 40);
  const Index cols = *rc::gen::inRange(1, 12);
  const int density = *rc::gen::inRange(0, 100);
  std::vector<float> values;
  for (Index k = 0; k < rows * cols; ++k) {
    const auto value = std::bit_cast<float>(*rc::gen::arbitrary<std::uint32_t>());
    const bool zero = *rc::gen::inRange(0, 100) >= density || !std::isfinite(value);
    values.push_back(zero ? 0.0F : value);
  }
  values[0] = 1;  // svmlight text without a single feature is refused
  Labels labels;
  const int kind = *rc::gen::inRange(0, 3);
  std::vector<std::string> words;
  std::vector<double> numbers;
  std::vector<double> row_weights;
  for (Index i = 0; i < rows; ++i) {
    words.push_back("w" + *word());
    numbers.push_back(*rc::gen::inRange(-1000000, 1000000) / 64.0);
    if (weights) row_weights.push_back(*rc::gen::inRange(0, 1000) / 8.0);
  }
  if (kind == 1) labels = Labels::numeric(numbers);
  if (kind == 2) labels = Labels::text(words);
  Matrix features = Matrix::dense(rows, cols, values);
  if (*rc::gen::arbitrary<bool>()) features = features.to_sparse();
  return Dataset(features, labels, row_weights);
}

RC_GTEST_PROP(WriteDataset, RandomDataReadsBack, ()) {
  TempFolder folder;
  const Dataset data = random_dataset(false);
  ReadOptions options;
  if (data.labels().empty()) options.label_column = "none";
  for (const int base : {0, 1}) {
    for (const char* name : {"x", "x.csv", "x.npy"}) {
      WriteOptions write;
      write.index_base = options.index_base = name == std::string_view("x") ? base : 1;
      write_dataset(folder / name, data, write);
      RC_ASSERT(same_data(read_dataset(folder / name, options), data));
    }
  }
  const Dataset weighted = random_dataset(true);
  options.weight_column = "weight";
  options.label_column = weighted.labels().empty() ? "none" : "label";
  write_dataset(folder / "w.csv", weighted);
  RC_ASSERT(same_data(read_dataset(folder / "w.csv", options), weighted));
}

}  // namespace
}  // namespace tamis::test

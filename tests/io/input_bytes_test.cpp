// Where bytes come from: plain files, pipes, compressed files, and broken ones.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "packing.hpp"
#include "support.hpp"

namespace tamis::test {
namespace {

std::string sample(int rows) {
  std::string text;
  for (std::int64_t i = 0; i < rows; ++i)
    text += std::to_string(i % 3) + " 1:" + std::to_string(i * 7919 % 1000) + " 3:0." +
            std::to_string(i * 104729 % 9973) + "\n";
  return text;
}

TEST(InputBytes, UnpacksWhateverTheNameSays) {
  TempFolder folder;
  const std::string text = sample(500);
  write_file(folder / "plain", text);
  const Dataset plain = read_dataset(folder / "plain");
  for (const Packing& packing : kPackings) {
    for (const std::string& name : {std::string("data.") + packing.ending, std::string("data")}) {
      write_file(folder / name, packing.pack(text));
      EXPECT_TRUE(same_data(read_dataset(folder / name), plain)) << name;
    }
    write_file(folder / ("t.csv." + std::string(packing.ending)),
               packing.pack("a,b,label\n1,2,x\n"));
    EXPECT_EQ(read_dataset(folder / ("t.csv." + std::string(packing.ending))).labels(),
              Labels::text({"x"}));
  }
}

TEST(InputBytes, EveryTruncatedArchiveIsAnError) {
  TempFolder folder;
  for (const Packing& packing : kPackings) {
    write_file(folder / "whole", packing.pack(sample(300)));
    const std::string whole = read_file(folder / "whole");
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 97);
    for (std::size_t size = 0; size < whole.size();
         size += size + 20 < whole.size() && size > 20 ? step : 1) {
      write_file(folder / "cut", whole.substr(0, size));
      const std::string error = error_of([&] { read_dataset(folder / "cut"); });
      EXPECT_TRUE(error.starts_with(folder / "cut")) << packing.ending << " " << size << error;
    }
  }
}

TEST(InputBytes, DamagedArchivesNeverCrash) {
  TempFolder folder;
  for (const Packing& packing : kPackings) {
    write_file(folder / "whole", packing.pack(sample(100)));
    const std::string whole = read_file(folder / "whole");
    for (std::size_t at = 0; at < whole.size(); at += 3) {
      std::string bad = whole;
      bad[at] = static_cast<char>(bad[at] ^ 0x55);
      write_file(folder / "bad", bad);
      error_of([&] { read_dataset(folder / "bad"); });
    }
  }
}

TEST(InputBytes, DamagedGzipIsRefused) {
  TempFolder folder;
  const std::string text = sample(300);
  write_file(folder / "whole", pack_gzip(text));
  const std::string whole = read_file(folder / "whole");
  // Past the ten bytes of the header, whose time stamp and system number mean nothing.
  for (std::size_t at = 10; at < whole.size(); at += at + 20 < whole.size() ? 7 : 1) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x01);
    write_file(folder / "bad", bad);
    EXPECT_NE(error_of([&] { read_dataset(folder / "bad"); }), "") << at;
  }
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 8] = static_cast<char>(wrong_sum[whole.size() - 8] ^ 0x01);
  write_file(folder / "bad", wrong_sum);
  EXPECT_EQ(error_of([&] { read_dataset(folder / "bad"); }),
            (folder / "bad") + ": cannot unpack: incorrect data check");
}

TEST(InputBytes, MembersFollowEachOther) {
  TempFolder folder;
  const std::string text = sample(300);
  write_file(folder / "plain", text);
  const Dataset plain = read_dataset(folder / "plain");
  for (const Packing& packing : kPackings) {
    const std::string both = packing.pack(text.substr(0, 1000)) + packing.pack(text.substr(1000));
    for (const std::string& tail : {std::string(), std::string(512, '\0')}) {
      write_file(folder / "both", both + tail);
      EXPECT_TRUE(same_data(read_dataset(folder / "both"), plain)) << packing.name;
    }
    write_file(folder / "both", both + "tail");
    EXPECT_EQ(error_of([&] { read_dataset(folder / "both"); }),
              (folder / "both") + ": cannot unpack: something follows the end of the " +
                  packing.name + " data");
  }
}

// zstd files may carry frames without data, such as a table of contents.
TEST(InputBytes, ZstdFramesWithoutDataAreIgnored) {
  TempFolder folder;
  const std::string text = sample(300);
  write_file(folder / "plain", text);
  const std::string skipped("\x5e\x2a\x4d\x18\x03\0\0\0abc", 11);
  write_file(folder / "both", pack_zstd(text) + skipped);
  EXPECT_TRUE(same_data(read_dataset(folder / "both"), read_dataset(folder / "plain")));
}

TEST(InputBytes, TheChecksumOfTheFirstMemberCounts) {
  TempFolder folder;
  const std::string first = pack_gzip(sample(100));
  std::string bad = first + pack_gzip(sample(100));
  bad[first.size() - 8] = static_cast<char>(bad[first.size() - 8] ^ 0x01);
  write_file(folder / "both", bad);
  EXPECT_NE(error_of([&] { read_dataset(folder / "both"); }), "");
}

// A few bytes can ask for a dictionary of gigabytes.
TEST(InputBytes, DictionariesAndWindowsAreLimited) {
  TempFolder folder;
  const std::string text = sample(300);
  write_file(folder / "small.xz", pack_xz(text, 128u << 20));
  EXPECT_EQ(read_dataset(folder / "small.xz").rows(), 300);
  write_file(folder / "large.xz", pack_xz(text, 256u << 20));
  EXPECT_EQ(error_of([&] { read_dataset(folder / "large.xz"); }),
            (folder / "large.xz") +
                ": cannot unpack: its dictionary needs 256 MiB, and 128 MiB are allowed; unpack it "
                "with xz first");
  write_file(folder / "small.zst", pack_zstd(text, 27));
  EXPECT_EQ(read_dataset(folder / "small.zst").rows(), 300);
  write_file(folder / "large.zst", pack_zstd(text, 28));
  EXPECT_EQ(error_of([&] { read_dataset(folder / "large.zst"); }),
            (folder / "large.zst") +
                ": cannot unpack: its window needs more than the 128 MiB allowed; unpack it with "
                "zstd first");
}

TEST(InputBytes, AnUnpackedFileMustFitTheBudget) {
  TempFolder folder;
  RunControl control;
  control.memory_bytes = 8 << 20;
  for (const Packing& packing : kPackings) {
    write_file(folder / "bomb", packing.pack(std::string(std::size_t{32} << 20, '\n')));
    EXPECT_EQ(error_of([&] { read_dataset(folder / "bomb", {}, control); }),
              (folder / "bomb") +
                  ": its text is larger than the memory budget of 8.0 MiB; raise it or use "
                  "fewer rows");
  }
}

TEST(InputBytes, SaysWhyAFileCannotBeRead) {
  TempFolder folder;
  EXPECT_EQ(error_of([&] { read_dataset(folder / "none"); }),
            (folder / "none") + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { read_dataset(folder / "."); }),
            (folder / ".") + ": cannot read: it is a folder");
  write_file(folder / "empty", "");
  EXPECT_EQ(error_of([&] { read_dataset(folder / "empty"); }),
            (folder / "empty") + ": no rows: the file is empty");
  EXPECT_THROW(read_dataset(folder / "none"), IoError);
}

TEST(InputBytes, ReadsPipesToTheirEnd) {
  TempFolder folder;
  const std::string text = sample(200000);
  write_file(folder / "plain", text);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_file(folder / "pipe", text); });
  const Dataset data = read_dataset(folder / "pipe");
  writer.join();
  EXPECT_TRUE(same_data(data, read_dataset(folder / "plain")));
}

TEST(InputBytes, ASilentPipeCanBeCancelled) {
  TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::atomic<bool> stop{false};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    std::ofstream open(folder / "pipe");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  RunControl control;
  control.cancel = &stop;
  EXPECT_THROW(read_dataset(folder / "pipe", {}, control), Cancelled);
  done = true;
  writer.join();
}

TEST(InputBytes, APipeThatNobodyWritesToCanBeCancelled) {
  TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::atomic<bool> stop{true};
  RunControl control;
  control.cancel = &stop;
  EXPECT_THROW(read_dataset(folder / "pipe", {}, control), Cancelled);
}

TEST(InputBytes, AFileThatShrinksIsAnError) {
  TempFolder folder;
  const std::string text = sample(200000);
  for (const std::int64_t left : {0, 1000000}) {
    write_file(folder / "x", text);
    const ParseInput source{"x", open_input(folder / "x", {})};
    ASSERT_EQ(truncate((folder / "x").c_str(), left), 0);
    EXPECT_EQ(error_of([&] { parse_svmlight(source, {}, {}); }),
              (folder / "x") + ": the file became shorter while it was read");
  }
}

// Rows count, not only their values.
TEST(InputBytes, RowsAndLabelsCountAgainstTheBudget) {
  TempFolder folder;
  std::string text = "1 1:1\n";
  for (int i = 0; i < 1000000; ++i) text += "1\n";
  write_file(folder / "x", text);
  RunControl control;
  control.memory_bytes = 20 << 20;
  EXPECT_THROW(read_dataset(folder / "x", {}, control), ResourceError);
  control.memory_bytes = 60 << 20;
  EXPECT_EQ(read_dataset(folder / "x", {}, control).rows(), 1000001);
}

TEST(InputBytes, ColumnsAreOfCsvAlone) {
  TempFolder folder;
  write_file(folder / "x.svm", "1 1:1\n2 1:2\n");
  ReadOptions options;
  options.label_column = "y";
  EXPECT_THROW(read_dataset(folder / "x.svm", options), InvalidArgument);
  options.label_column = "";
  options.weight_column = "w";
  EXPECT_THROW(read_dataset(folder / "x.svm", options), InvalidArgument);
  options.weight_column = "";
  options.labels_path = folder / "y.npy";
  EXPECT_THROW(read_dataset(folder / "x.svm", options), InvalidArgument);
  options.labels_path = "";
  options.label_column = "none";
  EXPECT_TRUE(read_dataset(folder / "x.svm", options).labels().empty());
}

TEST(InputBytes, ReportsProgressWithoutGoingPastTheEnd) {
  TempFolder folder;
  write_file(folder / "plain", sample(300000));
  RunControl control;
  control.on_progress = [](const Progress& progress) {
    EXPECT_EQ(progress.phase, "read");
    EXPECT_LE(progress.done_fraction, 1.0);
  };
  EXPECT_EQ(read_dataset(folder / "plain", {}, control).rows(), 300000);
}

}  // namespace
}  // namespace tamis::test

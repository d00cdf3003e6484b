#include "io/dataset_blocks.hpp"

#include "io/support.hpp"

namespace tamis::test {
namespace {

const char* const kText =
    "# a comment\n1 1:0.5 3:2\n-1 2:1 # and another\n\n \t\n1 1:4 2:5 3:6\n#\n#\n#\n#\n-1 3:7\n"
    "1 1:0.25 2:0.125 3:0.0625\n# the last\n-1 1:9";

std::vector<Dataset> blocks_of(const std::string& path, std::int64_t bytes) {
  ReadOptions options;
  options.min_features = 3;
  DatasetBlocks reader(path, options, {}, "read", bytes);
  std::vector<Dataset> blocks;
  for (Dataset block = reader.next(); block.rows() > 0; block = reader.next())
    blocks.push_back(block);
  EXPECT_EQ(reader.next().rows(), 0) << "the end stays the end";
  return blocks;
}

TEST(DatasetBlocks, TogetherTheyAreTheFile) {
  const TempFolder folder;
  for (const std::string end : {"", "\n", "\n\n# done\n", "\n# done"}) {
    write_file(folder / "a.svm", kText + end);
    const Dataset whole = read_dataset(folder / "a.svm");
    for (const std::int64_t bytes : {1, 2, 5, 11, 24, 50, 100, 1000}) {
      const std::vector<Dataset> blocks = blocks_of(folder / "a.svm", bytes);
      Index row = 0;
      for (const Dataset& block : blocks) {
        std::vector<Index> rows;
        for (Index i = 0; i < block.rows(); ++i) rows.push_back(row++);
        EXPECT_TRUE(same_data(block, whole.select(rows))) << bytes << " bytes, row " << row;
      }
      EXPECT_EQ(row, 6) << bytes << " bytes";
      if (bytes <= 24) {
        EXPECT_GT(blocks.size(), 2U);
      }
    }
  }
  write_file(folder / "empty.svm", "");
  EXPECT_TRUE(blocks_of(folder / "empty.svm", 10).empty());
  write_file(folder / "comments.svm", "# 1\n# 2\n\n");
  EXPECT_TRUE(blocks_of(folder / "comments.svm", 4).empty());
}

TEST(DatasetBlocks, ErrorsNameThePlaceInTheFile) {
  const TempFolder folder;
  const std::string path = folder / "bad.svm";
  write_file(path, std::string(kText) + "\n1 1:1 2:x\n1 1:1\n");
  const std::string expected = error_of([&] { read_dataset(path); });
  EXPECT_NE(expected.find(":15:"), std::string::npos) << expected;
  for (const std::int64_t bytes : {1, 7, 40, 1000})
    EXPECT_EQ(error_of([&] { blocks_of(path, bytes); }), expected) << bytes;
}

TEST(DatasetBlocks, OnlyPlainTextFiles) {
  const TempFolder folder;
  for (const std::string name : {"a.csv", "a.npy", "a.svm.gz"}) {
    write_file(folder / name, kText);
    EXPECT_NE(error_of([&] { blocks_of(folder / name, 100); }).find("block by block"),
              std::string::npos);
  }
  EXPECT_NE(error_of([&] { blocks_of("-", 100); }).find("<stdin>"), std::string::npos);
  EXPECT_NE(error_of([&] { blocks_of(folder / "no.svm", 100); }).find("cannot open"),
            std::string::npos);
  EXPECT_NE(error_of([&] { blocks_of(folder / "", 100); }).find("folder"), std::string::npos);
}

}  // namespace
}  // namespace tamis::test

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

const char* const kTable = "a,b,label\n1,2.5,yes\n0,3,no\n\n4,0,no\n5,6,yes\n7,0.125,no\n";

// The rows of the blocks are those of the file, whatever their size.
void expect_rows(const std::string& path, const ReadOptions& options) {
  const Dataset whole = read_dataset(path, options);
  for (const std::int64_t bytes : {1, 5, 9, 17, 40, 1000}) {
    DatasetBlocks reader(path, options, {}, "read", bytes);
    Index row = 0;
    for (Dataset block = reader.next(); block.rows() > 0; block = reader.next()) {
      EXPECT_TRUE(same_data(block, whole.slice(row, row + block.rows()))) << bytes << " " << row;
      EXPECT_TRUE(std::equal(block.feature_names().begin(), block.feature_names().end(),
                             whole.feature_names().begin(), whole.feature_names().end()));
      row += block.rows();
    }
    EXPECT_EQ(row, whole.rows()) << bytes;
  }
}

TEST(DatasetBlocks, TablesWithAndWithoutHeader) {
  const TempFolder folder;
  ReadOptions options;
  options.labels_as_text = true;
  write_file(folder / "a.csv", kTable);
  expect_rows(folder / "a.csv", options);
  // The first line is a row: it is the first of the first block alone.
  write_file(folder / "b.csv", std::string(kTable).substr(10));
  expect_rows(folder / "b.csv", options);
  write_file(folder / "c.csv", "\n\n" + std::string(kTable) + "1,1,no");
  expect_rows(folder / "c.csv", options);
}

TEST(DatasetBlocks, ErrorsOfTablesNameThePlace) {
  const TempFolder folder;
  for (const std::string& text :
       {std::string(kTable) + "1,x,no\n", std::string(kTable) + "1,2\n"}) {
    for (const std::size_t skipped : {0, 10}) {
      write_file(folder / "bad.csv", text.substr(skipped));
      const std::string expected = error_of([&] { read_dataset(folder / "bad.csv"); });
      EXPECT_NE(expected.find("bad.csv:"), std::string::npos);
      for (const std::int64_t bytes : {1, 9, 30, 1000})
        EXPECT_EQ(error_of([&] { blocks_of(folder / "bad.csv", bytes); }), expected) << bytes;
    }
  }
}

TEST(DatasetBlocks, ContinuesWhereAnotherStopped) {
  const TempFolder folder;
  for (const std::string name : {"a.svm", "a.csv", "b.csv"}) {
    const std::string text =
        name == "a.svm" ? kText : std::string(kTable).substr(name == "b.csv" ? 10 : 0);
    write_file(folder / name, text);
    const Dataset whole = read_dataset(folder / name);
    ReadOptions options;
    options.min_features = whole.cols();
    DatasetBlocks reader(folder / name, options, {}, "read", 20);
    Index row = reader.next().rows();
    DatasetBlocks later(folder / name, options, {}, "read", 7);
    later.continue_at(reader.place());
    for (Dataset block = later.next(); block.rows() > 0; block = later.next()) {
      EXPECT_TRUE(same_data(block, whole.slice(row, row + block.rows()))) << name << " " << row;
      row += block.rows();
    }
    EXPECT_EQ(row, whole.rows()) << name;
  }
}

TEST(DatasetBlocks, ArraysAreCut) {
  const TempFolder folder;
  write_file(folder / "a.svm", kText);
  const Dataset whole = read_dataset(folder / "a.svm");
  for (const std::string name : {"a.npy", "a.csr"}) {
    write_dataset(folder / name, whole);
    const std::vector<Dataset> blocks = blocks_of(folder / name, 40);
    Index row = 0;
    for (const Dataset& block : blocks) {
      EXPECT_TRUE(same_data(block, whole.slice(row, row + block.rows()))) << name;
      row += block.rows();
    }
    EXPECT_EQ(row, whole.rows());
    EXPECT_GT(blocks.size(), 1U) << name;
  }
}

TEST(DatasetBlocks, OnlyPlainFiles) {
  const TempFolder folder;
  write_file(folder / "a.svm.gz", kText);
  EXPECT_NE(error_of([&] { blocks_of(folder / "a.svm.gz", 100); }).find("block by block"),
            std::string::npos);
  EXPECT_NE(error_of([&] { blocks_of("-", 100); }).find("<stdin>"), std::string::npos);
  EXPECT_NE(error_of([&] { blocks_of(folder / "no.svm", 100); }).find("cannot open"),
            std::string::npos);
  EXPECT_NE(error_of([&] { blocks_of(folder / "", 100); }).find("folder"), std::string::npos);
}

}  // namespace
}  // namespace tamis::test

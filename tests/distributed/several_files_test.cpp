// Data in several files: the rows of one file that holds them all, for any number of ranks; and
// what the ranks write together.
#include <gtest/gtest.h>
#include <zlib.h>

#include <mutex>

#include "base/thread_group.hpp"
#include "io/support.hpp"
#include "tamis/group.hpp"

namespace tamis::testing {
namespace {

using test::error_of;
using test::read_file;
using test::TempFolder;
using test::write_file;

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

// Rows as CSV, whoever has them.
std::string rows_of(const std::string& path, const ReadOptions& options, int ranks,
                    const TempFolder& folder) {
  if (ranks == 0) {
    write_dataset(folder / "alone.csv", read_dataset(path, options));
    return read_file(folder / "alone.csv");
  }
  run_as_group(ranks, [&](Group& group) {
    RunControl control;
    control.threads = 1;
    control.group = &group;
    write_dataset(folder / "together.csv", read_dataset(path, options, control), {}, control);
  });
  return read_file(folder / "together.csv");
}

std::string svmlight_rows(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += std::to_string(i % 3) + " 1:" + std::to_string(i + 1);
    if (i % 5 == 0) text += " " + std::to_string(2 + i % 4) + ":0.5";
    text += "\n";
  }
  return text;
}

TEST(SeveralFiles, SameRowsAsOneFile) {
  const TempFolder folder;
  std::string whole;
  const int counts[] = {1, 40, 3, 0, 17, 2};
  int first = 0;
  for (int f = 0; f < 6; ++f) {
    std::string text = svmlight_rows(first, counts[f]);
    whole += text;
    first += counts[f];
    if (f == 1) text.pop_back();  // a last line without an end
    write_file(folder / ("part-" + std::to_string(f) + ".svm"), text);
  }
  write_file(folder / "whole.svm", whole);
  const std::string expected = rows_of(folder / "whole.svm", {}, 0, folder);
  EXPECT_EQ(rows_of(folder / "part-*.svm", {}, 0, folder), expected);
  ReadOptions named;
  named.more_files = {folder / "part-[1-3].svm", folder / "part-4.svm", folder / "part-5.svm"};
  EXPECT_EQ(rows_of(folder / "part-0.svm", named, 0, folder), expected);
  for (const int ranks : {1, 2, 3, 20}) {
    EXPECT_EQ(rows_of(folder / "part-*.svm", {}, ranks, folder), expected) << ranks;
    EXPECT_EQ(rows_of(folder / "whole.svm", {}, ranks, folder), expected) << ranks;
  }
}

TEST(SeveralFiles, CompressedOnesAreDealtWhole) {
  const TempFolder folder;
  write_file(folder / "a.svm", svmlight_rows(0, 20));
  write_gzip(folder / "b.svm", svmlight_rows(20, 500));
  write_file(folder / "c.svm", svmlight_rows(520, 30));
  write_gzip(folder / "d.svm", svmlight_rows(550, 10));
  write_file(folder / "whole", svmlight_rows(0, 560));
  const std::string expected = rows_of(folder / "whole", {}, 0, folder);
  for (const int ranks : {0, 1, 2, 3, 7})
    EXPECT_EQ(rows_of(folder / "?.svm", {}, ranks, folder), expected) << ranks;
}

TEST(SeveralFiles, CsvWithHeadersAndWords) {
  const TempFolder folder;
  write_file(folder / "1.csv", "a,b,label\n1,2,dog\n3,4,cat\n");
  write_file(folder / "2.csv", "a,b,label\n5,6,cow\n");
  write_file(folder / "3.csv", "a,b,label\n7,8,cat\n9,0,dog\n1,1,cow\n");
  const std::string expected = "a,b,label\n1,2,dog\n3,4,cat\n5,6,cow\n7,8,cat\n9,0,dog\n1,1,cow\n";
  for (const int ranks : {0, 1, 2, 3, 7})
    EXPECT_EQ(rows_of(folder / "?.csv", {}, ranks, folder), expected) << ranks;
}

TEST(SeveralFiles, Arrays) {
  const TempFolder folder;
  std::string expected = "f1,f2,label\n";
  for (int f = 0; f < 3; ++f) {
    std::vector<float> values;
    std::vector<double> labels;
    for (int i = 0; i < 4 + f; ++i) {
      values.insert(values.end(), {static_cast<float>(i), static_cast<float>(f)});
      labels.push_back(i % 2);
      expected += std::to_string(i) + "," + std::to_string(f) + "," + std::to_string(i % 2) + "\n";
    }
    write_dataset(folder / ("x" + std::to_string(f) + ".npy"),
                  Dataset(Matrix::dense(4 + f, 2, values), Labels::numeric(labels)));
  }
  for (const int ranks : {0, 1, 2, 3, 7})
    EXPECT_EQ(rows_of(folder / "x?.npy", {}, ranks, folder), expected) << ranks;
}

TEST(SeveralFiles, Tables) {
  const TempFolder folder;
  const int counts[] = {1, 40, 3, 17};
  ReadOptions five_columns;
  five_columns.min_features = 5;
  int first = 0;
  for (int f = 0; f < 4; ++f) {
    write_file(folder / "part.svm", svmlight_rows(first, counts[f]));
    write_dataset(folder / ("t" + std::to_string(f) + ".csr"),
                  read_dataset(folder / "part.svm", five_columns));
    first += counts[f];
  }
  write_file(folder / "whole.svm", svmlight_rows(0, first));
  const std::string expected = rows_of(folder / "whole.svm", {}, 0, folder);
  for (const int ranks : {0, 1, 2, 3, 7})
    EXPECT_EQ(rows_of(folder / "t?.csr", {}, ranks, folder), expected) << ranks;
  const std::string error = error_of([&] {
    run_as_group(2, [&](Group& group) {
      RunControl control;
      control.group = &group;
      write_dataset(folder / "out.csr", read_dataset(folder / "whole.svm", {}, control), {},
                    control);
    });
  });
  EXPECT_NE(error.find("out.csr: .csr is written by one process"), std::string::npos) << error;
}

TEST(SeveralFiles, ErrorsNameTheFile) {
  const TempFolder folder;
  write_file(folder / "a.svm", "1 1:1\n-1 1:2\n");
  write_file(folder / "b.svm", "1 1:1\n\n-1 1:x\n");
  for (const int ranks : {0, 1, 2, 3}) {
    EXPECT_EQ(error_of([&] { rows_of(folder / "?.svm", {}, ranks, folder); }),
              folder / "b.svm:3:6: 'x' is not a number")
        << ranks;
  }
  write_file(folder / "b.svm", "dog 1:1\n");
  for (const int ranks : {0, 2, 3}) {
    EXPECT_EQ(error_of([&] { rows_of(folder / "?.svm", {}, ranks, folder); }),
              folder / "b.svm: it has words as labels, but " + (folder / "a.svm") +
                  " has numbers as labels: read labels as text to have both");
  }
  write_file(folder / "b.svm", "1:3\n");
  EXPECT_NE(error_of([&] { rows_of(folder / "?.svm", {}, 2, folder); }).find("it has no labels"),
            std::string::npos);
  write_file(folder / "1.csv", "a,b,label\n1,2,3\n");
  write_file(folder / "2.csv", "a,c,label\n1,2,3\n");
  EXPECT_EQ(
      error_of([&] { rows_of(folder / "?.csv", {}, 0, folder); }),
      folder / "2.csv: its columns are not those of " + (folder / "1.csv") + ", in the same order");
  EXPECT_NE(error_of([&] { read_dataset(folder / "*.none"); }).find("no name matches"),
            std::string::npos);
}

// A name with a bracket is a name where there is such a file.
TEST(SeveralFiles, NamesComeBeforePatterns) {
  const TempFolder folder;
  write_file(folder / "a[1].svm", "1 1:1\n");
  write_file(folder / "a1.svm", "2 1:1\n");
  EXPECT_EQ(read_dataset(folder / "a[1].svm").labels().number(0), 1);
}

TEST(GroupFile, TextsInTheOrderOfTheRanks) {
  const TempFolder folder;
  const auto text = [](int rank) {
    return rank == 1 ? std::string()
                     : std::string(rank == 3 ? 9'000'000 : 10, static_cast<char>('a' + rank));
  };
  run_as_group(5, [&](Group& group) {
    RunControl control;
    control.group = &group;
    write_text(folder / "t", text(group.rank()), control);
  });
  EXPECT_EQ(read_file(folder / "t"), text(0) + text(2) + text(3) + text(4));
}

}  // namespace
}  // namespace tamis::testing

// Helpers of the io tests: temporary folders, parsing text with a given number of threads and chunk
// size, and comparing data sets.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/parallel.hpp"
#include "io/data_formats.hpp"
#include "support/error_of.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tamis-io-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

inline std::string read_file(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

using Parser = Dataset (*)(const ParseInput&, const ReadOptions&, const RunControl&, std::int64_t);

/// Parses `text` as a file called "t". The text is copied to a block of exactly its size, so that a
/// sanitizer sees any byte read beyond.
inline Dataset parse_text(Parser parser, std::string_view text, const ReadOptions& options = {},
                          int threads = 2, std::int64_t chunk_bytes = 7) {
  const std::shared_ptr<char[]> copy(new char[text.size()]);
  std::copy(text.begin(), text.end(), copy.get());
  ParseInput source;
  source.name = "t";
  source.input.bytes = {copy.get(), text.size()};
  RunControl control;
  control.threads = threads;
  return with_threads(threads, [&] { return parser(source, options, control, chunk_bytes); });
}

/// The error of a text, the same for every number of threads and chunk size.
inline std::string text_error(Parser parser, std::string_view text,
                              const ReadOptions& options = {}) {
  const std::string expected =
      error_of([&] { parse_text(parser, text, options, 1, kTextChunkBytes); });
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t chunk : {1, 7, 64}) {
      EXPECT_EQ(error_of([&] { parse_text(parser, text, options, threads, chunk); }), expected)
          << threads << " threads, chunks of " << chunk;
    }
  }
  return expected;
}

/// Equal up to columns of zeros at the end and up to how rows are stored.
inline bool same_data(const Dataset& a, const Dataset& b) {
  if (a.rows() != b.rows() || !(a.labels() == b.labels())) return false;
  const Index cols = std::max(a.cols(), b.cols());
  const Matrix x = a.features().with_cols(cols).to_dense();
  const Matrix y = b.features().with_cols(cols).to_dense();
  for (Index i = 0; i < a.rows(); ++i) {
    if (a.weight(i) != b.weight(i)) return false;
    for (Index j = 0; j < cols; ++j) {
      if (x.at(i, j) != y.at(i, j)) return false;
    }
  }
  return true;
}

}  // namespace tamis::test

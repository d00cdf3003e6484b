// A data file block by block, for files larger than memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/progress.hpp"
#include "tamis/io.hpp"

namespace tamis {

inline constexpr std::int64_t kBlockBytes = std::int64_t{1} << 25;

/// Where the reading of a text continues.
struct BlockPlace {
  std::int64_t offset = 0;  ///< bytes of the file that were parsed
  std::int64_t lines = 0;   ///< in these
  bool has_header = false;  ///< csv
};

/// svmlight text and CSV, not compressed, are parsed block by block; NumPy arrays and tables of
/// sparse rows are cut into blocks where they lie. What each block of a text says of columns
/// (svmlight) and of the kind of labels holds for its own rows. Errors are those of read_dataset().
class DatasetBlocks {
 public:
  /// `block_bytes` of the file at a time, and the rest of the line. `phase` names the reading in
  /// progress reports.
  DatasetBlocks(std::string path, const ReadOptions& options, const RunControl& control,
                const std::string& phase, std::int64_t block_bytes = kBlockBytes);
  ~DatasetBlocks();

  /// No rows: the end.
  Dataset next();
  /// As Dataset::require_intact(), for whoever stops before the end.
  void require_intact() const;
  /// Of a text, where the next block begins; continue_at() goes there.
  BlockPlace place() const { return place_; }
  void continue_at(const BlockPlace& place);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Dataset next_rows();
  bool read_text();
  void find_first_line();
  Dataset parse(std::string_view text, bool is_first);

  std::string path_;
  ReadOptions options_;
  RunControl quiet_;  // the progress of one block means nothing
  std::int64_t block_bytes_;
  bool is_csv_ = false;
  std::unique_ptr<std::FILE, Closer> file_;
  std::unique_ptr<ProgressMeter> meter_;
  // The first line of CSV, which every block is read with; then a block, and after it the
  // beginning of the next.
  std::string text_;
  std::size_t first_bytes_ = 0;  // up to the end of the first line; 0: not known, or no CSV
  std::size_t used_ = 0;         // bytes of the text that were parsed
  BlockPlace place_;
  std::optional<Dataset> whole_;  // in place of a text
  Index next_row_ = 0;
};

}  // namespace tamis

// A data file read block by block, for files larger than memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "base/progress.hpp"
#include "tamis/io.hpp"

namespace tamis {

inline constexpr std::int64_t kBlockBytes = std::int64_t{1} << 25;

/// svmlight text that is not compressed. What each block says of columns and of the kind of labels
/// holds for its own rows. Errors are those of read_dataset().
class DatasetBlocks {
 public:
  /// `block_bytes` of text at a time, and the rest of the line. `phase` names the reading in
  /// progress reports.
  DatasetBlocks(std::string path, const ReadOptions& options, const RunControl& control,
                const std::string& phase, std::int64_t block_bytes = kBlockBytes);
  ~DatasetBlocks();

  /// No rows: the end.
  Dataset next();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  bool read_text();
  Dataset parse(std::string_view text);

  std::string path_;
  ReadOptions options_;
  RunControl quiet_;  // the progress of one block means nothing
  std::int64_t block_bytes_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::unique_ptr<ProgressMeter> meter_;
  std::string text_;      // a block, and after it the beginning of the next
  std::size_t used_ = 0;  // bytes of the text that were parsed
  std::int64_t lines_before_ = 0;
};

}  // namespace tamis

#include "io/dataset_blocks.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/data_formats.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Some line is neither blank nor a comment.
bool has_rows(std::string_view text) {
  while (!text.empty()) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    if (text[first] != '#') return true;
    const std::size_t end = text.find('\n', first);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
  return false;
}

[[noreturn]] void fail_io(const std::string& path, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno)));
}

}  // namespace

DatasetBlocks::DatasetBlocks(std::string path, const ReadOptions& options,
                             const RunControl& control, const std::string& phase,
                             std::int64_t block_bytes)
    : path_(std::move(path)), options_(options), quiet_(quiet(control)), block_bytes_(block_bytes) {
  if (path_ == "-" || has_packed_ending(path_) ||
      resolve_format(options.format, path_) != DataFormat::svmlight) {
    throw InvalidArgument(
        fmt::format("{}: only svmlight text in a file, not compressed, can be read block by block",
                    input_name(path_)));
  }
  require_usable(path_, DataFormat::svmlight, options);
  if (!options.more_files.empty())
    throw InvalidArgument("only one file can be read block by block, not several");
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0) fail_io(path_, "cannot open");
  if (S_ISDIR(info.st_mode)) throw IoError(path_ + ": cannot read: it is a folder");
  // Not opened before: a pipe would wait for a writer, and can be read only once anyway.
  if (!S_ISREG(info.st_mode))
    throw IoError(path_ + ": cannot read block by block: it is not a plain file");
  file_.reset(std::fopen(path_.c_str(), "rb"));
  if (!file_) fail_io(path_, "cannot open");
  meter_ = std::make_unique<ProgressMeter>(control, phase, info.st_size);
}

DatasetBlocks::~DatasetBlocks() = default;

// Fills the text up to a block; false: nothing was left to read.
bool DatasetBlocks::read_text() {
  text_.erase(0, used_);
  used_ = 0;
  const std::size_t held = text_.size();
  // A line may be longer than a block, but not than the budget.
  require_memory("reading " + path_, static_cast<std::int64_t>(held) + block_bytes_,
                 resolve_memory_budget(quiet_.memory_bytes));
  text_.resize(held + static_cast<std::size_t>(block_bytes_));
  const std::size_t got =
      std::fread(text_.data() + held, 1, static_cast<std::size_t>(block_bytes_), file_.get());
  if (std::ferror(file_.get()) != 0) fail_io(path_, "cannot read");
  text_.resize(held + got);
  meter_->add(static_cast<std::int64_t>(got));
  return got > 0;
}

Dataset DatasetBlocks::next() {
  for (;;) {
    const bool more = read_text();
    const std::size_t end = more ? text_.rfind('\n') + 1 : text_.size();  // npos + 1 = 0
    if (end == 0) {
      if (!more) return {};
      continue;  // a line longer than a block
    }
    const std::string_view text = std::string_view(text_).substr(0, end);
    used_ = end;
    const std::int64_t lines = std::count(text.begin(), text.end(), '\n');
    Dataset block = has_rows(text) ? parse(text) : Dataset();
    lines_before_ += lines;
    if (block.rows() > 0 || !more) return block;
  }
}

Dataset DatasetBlocks::parse(std::string_view text) {
  ParseInput source;
  source.name = path_;
  source.input.bytes = text;
  try {
    return parse_svmlight(source, options_, quiet_);
  } catch (const ParseError& error) {
    const std::string prefix = fmt::format("{}:{}:{}: ", path_, error.line(), error.column());
    throw ParseError(path_, lines_before_ + error.line(), error.column(),
                     std::string(error.what()).substr(prefix.size()));
  }
}

}  // namespace tamis

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

// Some line is neither blank nor, in svmlight text, a comment.
bool has_rows(std::string_view text, bool is_csv) {
  while (!text.empty()) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    if (text[first] != '#' || is_csv) return true;
    const std::size_t end = text.find('\n', first);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
  return false;
}

// Besides blank ones.
bool has_two_lines(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::size_t end = text.find('\n', first);
  return end != std::string_view::npos && has_rows(text.substr(end), true);
}

std::int64_t count_lines(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n');
}

[[noreturn]] void fail_io(const std::string& path, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno)));
}

}  // namespace

DatasetBlocks::DatasetBlocks(std::string path, const ReadOptions& options,
                             const RunControl& control, const std::string& phase,
                             std::int64_t block_bytes)
    : path_(std::move(path)), options_(options), quiet_(quiet(control)), block_bytes_(block_bytes) {
  if (path_ == "-" || has_packed_ending(path_)) {
    throw InvalidArgument(fmt::format(
        "{}: only a file that is not compressed can be read block by block", input_name(path_)));
  }
  const DataFormat format = resolve_format(options.format, path_);
  is_csv_ = format == DataFormat::csv;
  require_usable(path_, format, options);
  if (!options.more_files.empty())
    throw InvalidArgument("only one file can be read block by block, not several");
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0) fail_io(path_, "cannot open");
  if (S_ISDIR(info.st_mode)) throw IoError(path_ + ": cannot read: it is a folder");
  // Not opened before: a pipe would wait for a writer, and can be read only once anyway.
  if (!S_ISREG(info.st_mode))
    throw IoError(path_ + ": cannot read block by block: it is not a plain file");
  if (format == DataFormat::npy || format == DataFormat::csr) {
    whole_ = read_dataset(path_, options, control);
    meter_ = std::make_unique<ProgressMeter>(control, phase, whole_->rows());
    return;
  }
  if (is_csv_ && options.text_columns)
    throw InvalidArgument(path_ + ": text columns cannot be read block by block");
  file_.reset(std::fopen(path_.c_str(), "rb"));
  if (!file_) fail_io(path_, "cannot open");
  meter_ = std::make_unique<ProgressMeter>(control, phase, info.st_size);
}

DatasetBlocks::~DatasetBlocks() = default;

void DatasetBlocks::require_intact() const {
  if (whole_) whole_->require_intact();
}

Dataset DatasetBlocks::next_rows() {
  const Dataset& all = *whole_;
  require_intact();  // what was made of the blocks before is still right
  const Index row_bytes = std::max<Index>(1, all.features().size_bytes() / all.rows());
  const Index end = std::min(all.rows(), next_row_ + std::max<Index>(1, block_bytes_ / row_bytes));
  Dataset block = all.slice(next_row_, end);
  meter_->add(end - next_row_);
  next_row_ = end;
  return block;
}

// Fills the text up to a block; false: nothing was left to read.
bool DatasetBlocks::read_text() {
  text_.erase(first_bytes_, used_ - first_bytes_);
  used_ = first_bytes_;
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

// Ends behind the first line that is not blank; nothing if the text does not hold all of it.
void DatasetBlocks::find_first_line() {
  const std::size_t first = text_.find_first_not_of(" \t\r\n");
  const std::size_t end = first == std::string::npos ? first : text_.find('\n', first);
  first_bytes_ = end == std::string::npos ? 0 : end + 1;
}

void DatasetBlocks::continue_at(const BlockPlace& place) {
  if (place.offset == 0) return;
  while (is_csv_ && first_bytes_ == 0 && read_text()) find_first_line();
  text_.resize(first_bytes_);
  used_ = first_bytes_;
  place_ = place;
  if (fseeko(file_.get(), static_cast<off_t>(place.offset), SEEK_SET) != 0)
    fail_io(path_, "cannot read");
  meter_->add(place.offset);
}

Dataset DatasetBlocks::next() {
  if (whole_ && next_row_ < whole_->rows()) return next_rows();
  if (whole_) {
    require_intact();
    return {};
  }
  for (;;) {
    const bool more = read_text();
    const std::size_t last = more ? text_.rfind('\n') : text_.size() - 1;
    const std::size_t end = last == std::string::npos ? 0 : last + 1;
    if (end <= first_bytes_) {
      if (!more) return {};
      continue;  // a line longer than a block
    }
    const bool is_first = first_bytes_ == 0;
    const std::string_view text = std::string_view(text_).substr(0, end);
    if (more && is_csv_ && is_first && !has_two_lines(text)) continue;  // a header and no row
    const std::string_view fresh = text.substr(first_bytes_);
    Dataset block = has_rows(fresh, is_csv_) ? parse(text, is_first) : Dataset();
    place_.offset += static_cast<std::int64_t>(fresh.size());
    place_.lines += count_lines(fresh);
    used_ = end;
    if (is_csv_ && is_first) find_first_line();
    if (block.rows() > 0 || !more) return block;
  }
}

// Blocks of CSV but the first have its first line before them: the header, or a row that was a part
// of the first block.
Dataset DatasetBlocks::parse(std::string_view text, bool is_first) {
  ParseInput source;
  source.name = path_;
  source.input.bytes = text;
  try {
    if (!is_csv_) return parse_svmlight(source, options_, quiet_);
    const Dataset block = parse_csv(source, options_, quiet_);
    if (is_first) place_.has_header = !block.feature_names().empty();
    return is_first || place_.has_header ? block : block.slice(1, block.rows());
  } catch (const ParseError& error) {
    const std::int64_t shown = count_lines(text.substr(0, first_bytes_));
    const std::string prefix = fmt::format("{}:{}:{}: ", path_, error.line(), error.column());
    throw ParseError(path_, place_.lines + error.line() - shown, error.column(),
                     std::string(error.what()).substr(prefix.size()));
  }
}

}  // namespace tamis

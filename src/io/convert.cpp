// convert_dataset(): small files in memory, large texts in one pass with bounded memory. What was
// parsed lies in OUTPUT.parts until the output is whole; a run that was stopped continues there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/group.hpp"
#include "base/mapped_file.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/read_at.hpp"
#include "io/convert.hpp"
#include "io/data_formats.hpp"
#include "io/dataset_blocks.hpp"
#include "io/descriptors.hpp"
#include "io/flat_json.hpp"
#include "io/output_file.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

namespace fs = std::filesystem;

constexpr double kStateSeconds = 2;  // between two states that a later run can continue from

[[noreturn]] void fail_io(const fs::path& path, const char* what, int error) {
  throw IoError(
      fmt::format("{}: {}: {}", path.string(), what, std::generic_category().message(error)));
}

/// A file that grows.
class Part {
 public:
  Part(fs::path path, std::int64_t size) : path_(std::move(path)), size_(size) {
    fd_ = beyond_standard_streams(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (fd_ < 0) fail_io(path_, "cannot create", errno);
    // What a killed run wrote after its last state is written again.
    if (ftruncate(fd_, size) != 0 || lseek(fd_, size, SEEK_SET) < 0)
      fail_io(path_, "cannot write", errno);
  }
  ~Part() { close(fd_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  template <typename T>
  void append(std::span<const T> values) {
    std::span<const std::byte> bytes = std::as_bytes(values);
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_io(path_, "cannot write", errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      size_ += written;
    }
  }
  std::int64_t size() const { return size_; }
  void sync() const {
    if (fsync(fd_) != 0) fail_io(path_, "cannot write", errno);
  }

  /// All values, in the mapped file or, where that cannot be, in memory.
  template <typename T>
  std::pair<std::span<const T>, std::shared_ptr<const void>> values() const {
    const auto count = static_cast<std::size_t>(size_) / sizeof(T);
    if (count == 0) return {};
    if (auto mapped = MappedFile::map(path_.string(), fd_))
      return {{reinterpret_cast<const T*>(mapped->bytes().data()), count}, mapped};
    auto copy = std::make_shared<std::vector<T>>(count);
    if (read_at(fd_, std::as_writable_bytes(std::span(*copy)), 0) != size_)
      fail_io(path_, "cannot read", errno);
    const std::span<const T> view(*copy);
    return {view, std::move(copy)};
  }

 private:
  fs::path path_;
  std::int64_t size_;
  int fd_ = -1;
};

/// What a later run must know. Sizes of the parts follow from the counts.
struct State {
  std::string source;  // path, stamp and options: what must be the same
  BlockPlace place;
  Index rows = 0;
  Index stored = 0;  // values
  Index cols = 0;
  bool is_dense = false;
  bool has_weights = false;
  int label_kind = 0;
  std::int64_t name_bytes = 0;     // of the names of text labels
  std::int64_t feature_bytes = 0;  // of the names of features

  std::string text() const {
    return fmt::format(
        R"({{"source":{},"offset":{},"lines":{},"header":{},"rows":{},"stored":{},"cols":{},)"
        R"("dense":{},"weights":{},"labels":{},"name_bytes":{},"feature_bytes":{}}})"
        "\n",
        json_text(source), place.offset, place.lines, place.has_header ? 1 : 0, rows, stored, cols,
        is_dense ? 1 : 0, has_weights ? 1 : 0, label_kind, name_bytes, feature_bytes);
  }
  /// False: no state, or one of another conversion.
  bool load(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (!(text << in.rdbuf())) return false;
    const auto fields = parse_flat_json(text.str());
    const auto number = [&](const char* name) {
      const auto found = fields.find(name);
      return found != fields.end() && found->second.is_number_unsigned()
                 ? static_cast<std::int64_t>(found->second.get<std::uint64_t>())
                 : -1;
    };
    const auto named = fields.find("source");
    if (named == fields.end() || !named->second.is_string() ||
        named->second.get<std::string>() != source)
      return false;
    State found;
    found.source = source;
    found.place = {number("offset"), number("lines"), number("header") == 1};
    found.rows = number("rows");
    found.stored = number("stored");
    found.cols = number("cols");
    found.is_dense = number("dense") == 1;
    found.has_weights = number("weights") == 1;
    found.label_kind = static_cast<int>(number("labels"));
    found.name_bytes = number("name_bytes");
    found.feature_bytes = number("feature_bytes");
    for (const std::int64_t count :
         {found.place.offset, found.place.lines, found.rows, found.stored, found.cols,
          found.name_bytes, found.feature_bytes}) {
      if (count < 0) return false;
    }
    *this = found;
    return true;
  }
};

/// Holds the folder of the parts for this process alone.
class PartsFolder {
 public:
  explicit PartsFolder(const std::string& output) : path_(output + ".parts") {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error)
      throw IoError(fmt::format("{}: cannot make the folder: {}", path_.string(), error.message()));
    fd_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd_ < 0) fail_io(path_, "cannot open", errno);
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(fd_);
      throw IoError(path_.string() + ": another run is converting to the same file; wait for it");
    }
  }
  ~PartsFolder() { close(fd_); }
  PartsFolder(const PartsFolder&) = delete;
  PartsFolder& operator=(const PartsFolder&) = delete;

  fs::path operator/(const char* name) const { return path_ / name; }
  void remove() const {
    std::error_code error;
    for (const char* name :
         {"state", "values", "columns", "ends", "labels", "weights", "names", "features"})
      fs::remove(path_ / name, error);
    fs::remove(path_, error);  // unless somebody else keeps files there
  }

 private:
  fs::path path_;
  int fd_ = -1;
};

class StreamConversion {
 public:
  StreamConversion(const std::string& input, const ReadOptions& read, const std::string& output,
                   const RunControl& control, std::int64_t block_bytes)
      : folder_(output), input_(input), read_(read), control_(control), block_bytes_(block_bytes) {
    state_.source = describe_source();
    resumed_ = state_.load(folder_ / "state") && state_.rows > 0;
    const auto part = [&](const char* name, std::int64_t bytes) {
      return std::make_unique<Part>(folder_ / name, bytes);
    };
    values_ = part("values", state_.stored * Index{sizeof(float)});
    columns_ = part("columns", state_.is_dense ? 0 : state_.stored * Index{sizeof(std::int32_t)});
    // The end of each row; the 0 before the first is written at once.
    ends_ = part("ends", state_.is_dense || state_.rows == 0 ? 0 : (state_.rows + 1) * Index{8});
    const bool is_text = state_.label_kind == static_cast<int>(LabelKind::text);
    const Index label_bytes = state_.label_kind == 0 ? 0 : is_text ? 4 : 8;
    labels_ = part("labels", state_.rows * label_bytes);
    weights_ = part("weights", state_.has_weights ? state_.rows * Index{8} : 0);
    names_ = part("names", state_.name_bytes);
    features_ = part("features", state_.feature_bytes);
    label_names_ = lines_of(*names_);
    feature_names_ = lines_of(*features_);
    for (std::size_t code = 0; code < label_names_.size(); ++code)
      code_of_.emplace(label_names_[code], static_cast<std::int32_t>(code));
    done_ = state_;
  }

  bool is_resumed() const { return resumed_; }

  Dataset parse() {
    DatasetBlocks blocks(input_, read_, control_, "convert", block_bytes_);
    blocks.continue_at(state_.place);
    try {
      add_all(blocks);
    } catch (...) {
      // A later run continues here; that there is no room for a state must not hide the reason.
      try {
        save_state();
      } catch (const Error&) {
      }
      throw;
    }
    if (state_.rows == 0) throw DataError(input_ + ": no rows");
    save_state();
    return assemble();
  }

  void remove_parts() const { folder_.remove(); }

 private:
  std::string describe_source() const {
    const int fd = open(input_.c_str(), O_RDONLY | O_CLOEXEC);
    const FileStamp stamp = file_stamp(fd);
    if (fd >= 0) close(fd);
    return fmt::format("{} size {} written {} format {} base {} label {} weight {} text {}{}{}",
                       fs::absolute(input_).string(), stamp.size, stamp.written_ns,
                       static_cast<int>(resolve_format(read_.format, input_)), read_.index_base,
                       read_.label_column, read_.weight_column, read_.labels_as_text,
                       read_.text_labels, read_.missing_values);
  }

  void add_all(DatasetBlocks& blocks) {
    Stopwatch since_state;
    for (Dataset block = blocks.next(); block.rows() > 0; block = blocks.next()) {
      add(block);
      state_.place = blocks.place();
      done_ = state_;
      if (since_state.seconds() < kStateSeconds) continue;
      save_state();
      since_state = {};
    }
  }

  // Names have a line end behind them, which none of them holds.
  static std::vector<std::string> lines_of(const Part& part) {
    const auto [bytes, owner] = part.values<char>();
    std::vector<std::string> lines;
    std::string line;
    for (const char c : bytes) {
      if (c != '\n') {
        line += c;
        continue;
      }
      lines.push_back(std::move(line));
      line.clear();
    }
    return lines;
  }

  static void append_line(Part& part, const std::string& line) {
    const std::string text = line + "\n";
    part.append(std::span<const char>(text));
  }

  void add(const Dataset& block) {
    const bool is_first = state_.rows == 0;
    const Labels labels =
        read_.label_column == "none" ? Labels() : block.labels();  // svmlight reads them anyway
    const int kind = static_cast<int>(labels.kind());
    if (is_first) {
      state_.label_kind = kind;
      state_.has_weights = !block.weights().empty();
      // The columns of svmlight text are not known before its end.
      const bool is_svmlight = resolve_format(read_.format, input_) == DataFormat::svmlight;
      state_.is_dense = !is_svmlight && !block.features().is_sparse();
      const Index zero = 0;
      if (!state_.is_dense) ends_->append(std::span(&zero, 1));
      feature_names_.assign(block.feature_names().begin(), block.feature_names().end());
      for (const std::string& name : feature_names_) append_line(*features_, name);
    }
    if (kind != state_.label_kind)
      throw DataError(input_ + ": some labels are numbers and some are words: read labels as text");
    add_features(block.features());
    add_labels(labels);
    if (state_.has_weights) weights_->append(block.weights());
    state_.rows += block.rows();
    state_.cols = std::max(state_.cols, block.cols());
    state_.name_bytes = names_->size();
    state_.feature_bytes = features_->size();
  }

  void add_features(const Matrix& given) {
    if (state_.is_dense) {
      const Matrix dense = given.to_dense();
      values_->append(dense.dense_values());
      state_.stored += dense.num_stored();
      return;
    }
    const Matrix sparse = given.to_sparse();
    std::vector<Index> ends(sparse.row_offsets().begin() + 1, sparse.row_offsets().end());
    for (Index& end : ends) end += state_.stored;
    ends_->append(std::span<const Index>(ends));
    columns_->append(sparse.sparse_columns());
    values_->append(sparse.sparse_values());
    state_.stored += sparse.num_stored();
  }

  void add_labels(const Labels& labels) {
    if (labels.kind() == LabelKind::numeric) {
      std::vector<double> numbers;
      for (Index i = 0; i < labels.size(); ++i) numbers.push_back(labels.number(i));
      labels_->append(std::span<const double>(numbers));
    }
    if (labels.kind() != LabelKind::text) return;
    std::vector<std::int32_t> codes;
    for (Index i = 0; i < labels.size(); ++i) {
      const auto [entry, is_new] =
          code_of_.emplace(labels.name(i), static_cast<std::int32_t>(label_names_.size()));
      if (is_new) {
        label_names_.push_back(entry->first);
        append_line(*names_, entry->first);
      }
      codes.push_back(entry->second);
    }
    labels_->append(std::span<const std::int32_t>(codes));
  }

  // The parts are on the disk before a state counts on them.
  void save_state() {
    for (const Part* part : {values_.get(), columns_.get(), ends_.get(), labels_.get(),
                             weights_.get(), names_.get(), features_.get()})
      part->sync();
    OutputFile file((folder_ / "state").string());
    file.write(done_.text());
    file.commit();
  }

  Dataset assemble() const {
    const auto [values, values_owner] = values_->values<float>();
    Matrix features;
    if (state_.is_dense) {
      features = Matrix::dense_view(state_.rows, state_.cols, values.data(), values_owner);
    } else {
      const auto [ends, ends_owner] = ends_->values<Index>();
      const auto [columns, columns_owner] = columns_->values<std::int32_t>();
      auto owners = std::make_shared<std::vector<std::shared_ptr<const void>>>();
      *owners = {values_owner, ends_owner, columns_owner};
      features = Matrix::sparse_view(state_.cols, ends, columns, values, std::move(owners));
    }
    Labels labels;
    if (state_.label_kind == static_cast<int>(LabelKind::numeric)) {
      const auto [numbers, owner] = labels_->values<double>();
      labels = Labels::numeric_view(numbers, owner);
    } else if (state_.label_kind == static_cast<int>(LabelKind::text)) {
      const auto [codes, owner] = labels_->values<std::int32_t>();
      labels = Labels::text({codes.begin(), codes.end()}, label_names_);
    }
    const auto [weights, weights_owner] = weights_->values<double>();
    return Dataset(std::move(features), std::move(labels), {weights.begin(), weights.end()},
                   feature_names_);
  }

  PartsFolder folder_;
  std::string input_;
  const ReadOptions& read_;
  const RunControl& control_;
  std::int64_t block_bytes_;
  State state_;  // with the block under way
  State done_;   // of whole blocks
  bool resumed_ = false;
  std::unique_ptr<Part> values_, columns_, ends_, labels_, weights_, names_, features_;
  std::unordered_map<std::string, std::int32_t> code_of_;
  std::vector<std::string> label_names_;
  std::vector<std::string> feature_names_;
};

bool is_plain_file(const std::string& path, std::int64_t* size) {
  struct stat info {};
  if (path == "-" || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  *size = info.st_size;
  return true;
}

bool is_large_text(const std::string& input, const ReadOptions& read, const std::string& output,
                   const RunControl& control, std::int64_t large_bytes) {
  std::int64_t size = 0;
  std::int64_t old_size = 0;
  std::error_code error;
  if (!is_plain_file(input, &size) || size < large_bytes || has_packed_ending(input) ||
      read.text_columns || !read.more_files.empty() || output == "-" ||
      group_of(control).size() > 1)
    return false;
  if (fs::exists(output, error) && !is_plain_file(output, &old_size)) return false;
  const InputBytes bytes = open_input(input, control);
  if (!bytes.file) return false;  // compressed
  PieceBuffer head;
  const std::string_view beginning = bytes.piece(0, 256, head);
  const DataFormat format = resolve_format(read.format, input);
  const bool is_text = format == DataFormat::svmlight || format == DataFormat::csv;
  return is_text &&
         (read.format != DataFormat::automatic || (!is_npy(beginning) && !is_csr(beginning)));
}

}  // namespace

Converted convert_in_pieces(const std::string& input, const ReadOptions& read,
                            const std::string& output, const WriteOptions& write,
                            const RunControl& control, std::int64_t block_bytes) {
  return with_threads(control.threads, [&] {
    StreamConversion conversion(input, read, output, control, block_bytes);
    const Dataset data = conversion.parse();
    write_dataset(output, data, write, control);
    conversion.remove_parts();
    return Converted{data.rows(), data.cols(), conversion.is_resumed()};
  });
}

Converted convert_dataset(const std::string& input, const ReadOptions& read,
                          const std::string& output, const WriteOptions& write,
                          const RunControl& control) {
  constexpr std::int64_t kLargeBytes = std::int64_t{64} << 20;
  if (is_large_text(input, read, output, control, kLargeBytes)) {
    const std::int64_t block_bytes = std::clamp<std::int64_t>(
        memory_left(control.memory_bytes) / 16, std::int64_t{1} << 18, kBlockBytes);
    return convert_in_pieces(input, read, output, write, control, block_bytes);
  }
  const Dataset data = read_dataset(input, read, control);
  write_dataset(output, data, write, control);
  return {data.rows(), data.cols(), false};
}

}  // namespace tamis

#include "io/several_files.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "data/stack_rows.hpp"
#include "io/data_formats.hpp"
#include "io/input_bytes.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

namespace fs = std::filesystem;

bool has_pattern(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  const int code = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> names;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i)
    names.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (names.empty())
    throw IoError(pattern + ": there is no such file, and no name matches this as a pattern");
  std::sort(names.begin(), names.end());  // by bytes, whatever the locale
  return names;
}

// What the ranks have to agree on about one file.
struct FileFacts {
  Index rows = 0;
  Index nonzeros = 0;
  Index cols = 0;
  LabelKind labels = LabelKind::none;
  bool is_array = false;
  bool has_weights = false;
  bool has_categories = false;

  void add(const FileFacts& other) {
    rows += other.rows;
    nonzeros += other.nonzeros;
    cols = std::max(cols, other.cols);
    labels = std::max(labels, other.labels);
    is_array = is_array || other.is_array;
    has_weights = has_weights || other.has_weights;
    has_categories = has_categories || other.has_categories;
  }
};

Index count_nonzeros(const Matrix& features) {
  const auto values = features.is_sparse() ? features.sparse_values() : features.dense_values();
  return std::count_if(values.begin(), values.end(), [](float v) { return v != 0; });
}

class SeveralFiles {
 public:
  SeveralFiles(const std::vector<std::string>& files, const ReadOptions& options,
               const RunControl& control)
      : options_(options), control_(control), group_(group_of(control)) {
    if (!options.labels_path.empty())
      throw InvalidArgument("a file of labels goes with one NumPy array, not with several files");
    for (const std::string& path : files) {
      if (path == "-") throw InvalidArgument("standard input cannot be one of several files");
      std::error_code error;
      const auto size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 1;
      if (size == 0 && !error) continue;
      files_.push_back(path);
      begins_.push_back(begins_.back() + static_cast<std::int64_t>(size));
    }
    if (files_.empty()) throw DataError(files[0] + ": no rows: this and the other files are empty");
  }

  Dataset read(const ReadOneFile& read_one) {
    for (std::size_t f = 0; f < files_.size(); ++f) {
      parts_.push_back(read_part(f, read_one));
      const auto names = parts_.back().feature_names();
      if (names_.empty()) names_.assign(names.begin(), names.end());
      require_same_names(f);
    }
    agree();
    return join();
  }

 private:
  // Of a compressed file a rank has all or nothing: it would have to unpack it for any part.
  Dataset read_part(std::size_t f, const ReadOneFile& read_one) const {
    ReadOptions options = options_;
    options.more_files.clear();
    const FilePlace place{begins_[f], begins_.back()};
    if (group_.size() == 1 || !is_compressed_file(files_[f]))
      return read_one(files_[f], place, options, control_);
    const auto begin = [&](int rank) { return share_begin(place.total, rank, group_.size()); };
    if (place.before < begin(group_.rank()) || place.before >= begin(group_.rank() + 1)) return {};
    RunControl own = control_;
    own.group = nullptr;
    return read_one(files_[f], {}, options, own);
  }

  void require_same_names(std::size_t f) const {
    const auto names = parts_[f].feature_names();
    if (names.empty() || std::equal(names.begin(), names.end(), names_.begin(), names_.end()))
      return;
    throw DataError(fmt::format("{}: its columns are not those of {}, in the same order", files_[f],
                                files_[0]));
  }

  void agree() {
    std::vector<FileFacts> mine;
    for (std::size_t f = 0; f < files_.size(); ++f) {
      const Dataset& part = parts_[f];
      FileFacts facts{part.rows(), count_nonzeros(part.features()), part.cols(),
                      part.labels().kind()};
      facts.is_array = resolve_format(options_.format, files_[f]) != DataFormat::svmlight;
      facts.has_weights = !part.weights().empty();
      facts.has_categories = !part.categories().empty();
      mine.push_back(facts);
    }
    facts_.resize(mine.size());
    for (const std::vector<FileFacts>& of_rank : gather_lists(group_, mine)) {
      for (std::size_t f = 0; f < mine.size(); ++f) facts_[f].add(of_rank[f]);
    }
    for (std::size_t f = 0; f < files_.size(); ++f) require_alike(f);
    // A rank that has no row of a file does not know its names either; the first has the first.
    std::vector<char> text;
    for (const std::string& name : names_)
      text.insert(text.end(), name.c_str(), name.c_str() + name.size() + 1);
    if (group_.size() == 1) return;
    text = broadcast_list(group_, text, 0);
    names_.clear();
    for (std::size_t at = 0; at < text.size(); at += names_.back().size() + 1)
      names_.emplace_back(text.data() + at);
  }

  void require_alike(std::size_t f) const {
    const FileFacts& first = facts_[0];
    const FileFacts& facts = facts_[f];
    const auto refuse = [&](const std::string& what) {
      throw DataError(fmt::format("{}: {}", files_[f], what));
    };
    if (facts.has_categories) refuse("text columns can be read from one file only: join the files");
    if ((facts.is_array || first.is_array) && facts.cols != first.cols)
      refuse(
          fmt::format("{}, but {} has {}", counted(facts.cols, "feature"), files_[0], first.cols));
    const auto kind = [](LabelKind labels) {
      return labels == LabelKind::none      ? "no labels"
             : labels == LabelKind::numeric ? "numbers as labels"
                                            : "words as labels";
    };
    if (facts.labels != first.labels)
      refuse(fmt::format("it has {}, but {} has {}{}", kind(facts.labels), files_[0],
                         kind(first.labels),
                         facts.labels == LabelKind::none || first.labels == LabelKind::none
                             ? ""
                             : ": read labels as text to have both"));
    if (facts.has_weights != first.has_weights)
      refuse(
          fmt::format("row weights must be in all files or in none; {} is the first", files_[0]));
  }

  Dataset join() {
    FileFacts all;
    bool only_arrays = true;
    for (std::size_t f = 0; f < facts_.size(); ++f) {
      all.add(facts_[f]);
      only_arrays = only_arrays && resolve_format(options_.format, files_[f]) == DataFormat::npy;
    }
    const bool dense = only_arrays || store_dense(all.rows, all.cols, all.nonzeros);
    std::vector<Matrix> matrices{dense ? Matrix::dense(0, all.cols, {})
                                       : Matrix::sparse(all.cols, {0}, {}, {})};
    Index bytes = 0;
    for (const Dataset& part : parts_) {
      if (part.rows() == 0) continue;
      matrices.push_back(part.features().with_cols(all.cols));
      bytes += dense ? part.rows() * all.cols * Index{sizeof(float)} : matrices.back().size_bytes();
    }
    require_memory("reading " + counted(files_.size(), "file"),
                   checked_sum(bytes, resident_memory_bytes()),
                   resolve_memory_budget(control_.memory_bytes));
    Labels labels = join_labels(all.labels);
    std::vector<double> weights;
    for (const Dataset& part : parts_)
      weights.insert(weights.end(), part.weights().begin(), part.weights().end());
    Matrix features = stack_rows(matrices);
    for (const Dataset& part : parts_) part.require_intact();
    return Dataset(std::move(features), std::move(labels), std::move(weights), std::move(names_));
  }

  Labels join_labels(LabelKind kind) const {
    std::vector<double> numbers;
    std::vector<std::string> words;
    for (const Dataset& part : parts_) {
      for (Index i = 0; i < part.labels().size(); ++i) {
        if (kind == LabelKind::numeric)
          numbers.push_back(part.labels().number(i));
        else
          words.push_back(part.labels().name(i));
      }
    }
    if (kind == LabelKind::none) return {};
    return kind == LabelKind::numeric ? Labels::numeric(std::move(numbers)) : Labels::text(words);
  }

  const ReadOptions& options_;
  const RunControl& control_;
  Group& group_;
  std::vector<std::string> files_;
  std::vector<std::int64_t> begins_{0};  // of each file among the bytes of all, and the end
  std::vector<Dataset> parts_;           // what this rank has of each
  std::vector<FileFacts> facts_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> expand_paths(const std::string& path,
                                      const std::vector<std::string>& more_files) {
  std::vector<std::string> given{path};
  given.insert(given.end(), more_files.begin(), more_files.end());
  std::vector<std::string> files;
  for (const std::string& one : given) {
    std::error_code error;
    if (!has_pattern(one) || fs::exists(one, error)) {
      files.push_back(one);
      continue;
    }
    const std::vector<std::string> found = matching(one);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Dataset read_several(const std::vector<std::string>& files, const ReadOptions& options,
                     const RunControl& control, const ReadOneFile& read_one) {
  return SeveralFiles(files, options, control).read(read_one);
}

}  // namespace tamis

// NumPy arrays: X.npy and X.labels.npy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/group.hpp"
#include "io/data_formats.hpp"
#include "io/npy_header.hpp"
#include "io/row_writer.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

void append_bytes(const void* from, std::size_t size, std::string& out) {
  out.append(static_cast<const char*>(from), size);
}

class FeatureRows : public RowFormatter {
 public:
  explicit FeatureRows(const Matrix& features) : features_(features) {}
  void append(Index row, std::string& out) const override {
    std::vector<float> copy;
    const std::span<const float> values = dense_values(features_, row, &copy);
    append_bytes(values.data(), values.size() * sizeof(float), out);
  }

 private:
  const Matrix& features_;
};

class NumberRows : public RowFormatter {
 public:
  explicit NumberRows(const Labels& labels) : labels_(labels) {}
  void append(Index row, std::string& out) const override {
    const double number = labels_.number(row);
    if (!std::isfinite(number)) {
      throw DataError(
          fmt::format("row {}: the label is {}: it must be finite", row + 1, labels_.name(row)));
    }
    append_bytes(&number, sizeof number, out);
  }

 private:
  const Labels& labels_;
};

// UTF-8, known to be valid, as code points.
std::u32string code_points(const std::string& text) {
  std::u32string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) == 0x80U) {
      result.back() = result.back() << 6U | (byte & 0x3FU);
    } else {
      const unsigned kept = byte < 0x80 ? 0x7FU : byte < 0xE0 ? 0x1FU : byte < 0xF0 ? 0x0FU : 0x07U;
      result += static_cast<char32_t>(byte & kept);
    }
  }
  return result;
}

class WordRows : public RowFormatter {
 public:
  WordRows(const Labels& labels, std::size_t longest) : labels_(labels), longest_(longest) {}
  void append(Index row, std::string& out) const override {
    std::u32string word = code_points(labels_.name(row));
    word.resize(longest_);
    append_bytes(word.data(), word.size() * sizeof(char32_t), out);
  }

 private:
  const Labels& labels_;
  std::size_t longest_;
};

// The longest word in code points. Throws DataError for a word that would not read back.
std::size_t check_words(const Labels& labels) {
  std::size_t longest = 1;
  for (Index i = 0; i < labels.size(); ++i) {
    const std::string word = labels.name(i);
    try {
      check_word_label(word.data(), word, true);
    } catch (const TextProblem& problem) {
      throw DataError(fmt::format("row {}: {}", i + 1, problem.message));
    }
    if (word.empty()) throw DataError(fmt::format("row {}: the label is empty", i + 1));
    longest = std::max(longest, code_points(word).size());
  }
  return longest;
}

void write_labels(GroupFile& file, const Dataset& data, Index all_rows, LabelKind kind,
                  const RunControl& control) {
  const Labels& labels = data.labels();
  if (kind == LabelKind::numeric) {
    file.write_once(npy_header("<f8", {all_rows}));
    file.write_in_turn(
        [&](ByteSink& sink) { write_rows(sink, NumberRows(labels), labels.size(), 1, control); });
    return;
  }
  const std::size_t longest = largest_of_all(group_of(control), check_words(labels));
  file.write_once(npy_header(fmt::format("<U{}", longest), {all_rows}));
  file.write_in_turn([&](ByteSink& sink) {
    write_rows(sink, WordRows(labels, longest), labels.size(), static_cast<Index>(longest),
               control);
  });
}

void write_features(GroupFile& file, const Dataset& data, Index all_rows,
                    const RunControl& control) {
  require_finite(data.features());
  require_row_memory("writing a NumPy array", data.cols(), control);
  file.write_once(npy_header("<f4", {all_rows, data.cols()}));
  file.write_in_turn([&](ByteSink& sink) {
    write_rows(sink, FeatureRows(data.features()), data.rows(), data.cols(), control);
  });
}

}  // namespace

void write_npy(const std::string& path, const Dataset& data, const RunControl& control) {
  const std::string labels_path = npy_labels_path(path);
  Group& group = group_of(control);
  const Index all_rows = sum_of_all(group, data.rows());
  const LabelKind kind = largest_of_all(group, data.labels().kind());
  GroupFile file(path, group, control);
  write_features(file, data, all_rows, control);
  if (kind == LabelKind::none) {
    // An older file of labels would be taken for the labels of these rows.
    std::error_code error;
    if (path != "-" && std::filesystem::exists(labels_path, error))
      throw IoError(labels_path + ": remove it first: the rows to be written have no labels");
    data.require_intact();
    file.commit();
    return;
  }
  if (path == "-") throw InvalidArgument("features and labels are two NumPy files: give a name");
  GroupFile labels_file(labels_path, group, control);
  write_labels(labels_file, data, all_rows, kind, control);
  data.require_intact();
  file.commit();
  labels_file.commit();
}

}  // namespace tamis

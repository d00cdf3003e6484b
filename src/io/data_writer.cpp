// write_dataset(): rows are formatted in parallel blocks and written in order, a bounded number of
// blocks at a time.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <memory>

#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "io/data_formats.hpp"
#include "io/number_parser.hpp"
#include "io/output_file.hpp"
#include "io/row_writer.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// The shortest text that reads back as the same float. The reader rounds to double on the way to
// float, and for very few numbers the shortest text of all would round the wrong way; those get the
// digits of a double.
void append_float(std::string& out, float value) {
  char buffer[40];
  char* end = std::to_chars(buffer, buffer + 32, value).ptr;
  *end = '\n';
  if (static_cast<float>(parse_number(buffer).value) != value)
    end = std::to_chars(buffer, buffer + 32, static_cast<double>(value)).ptr;
  out.append(buffer, end);
}

void check_finite(float value, Index row, Index column) {
  if (std::isfinite(value)) return;
  throw DataError(
      fmt::format("row {}, column {} is {}: values must be finite", row + 1, column + 1, value));
}

// Labels of either kind as text, refused if they would not read back.
std::string label_text(const Labels& labels, Index row) {
  std::string text = labels.name(row);
  try {
    if (labels.kind() == LabelKind::text) check_word_label(text.data(), text, true);
  } catch (const TextProblem& problem) {
    throw DataError(fmt::format("row {}: {}", row + 1, problem.message));
  }
  if (labels.kind() == LabelKind::numeric && !std::isfinite(labels.number(row)))
    throw DataError(fmt::format("row {}: the label is {}: it must be finite", row + 1, text));
  if (text.empty()) throw DataError(fmt::format("row {}: the label is empty", row + 1));
  return text;
}

class SvmlightRows : public RowFormatter {
 public:
  SvmlightRows(const Dataset& data, int index_base) : data_(data), base_(index_base) {}

  void append(Index row, std::string& out) const override {
    const std::size_t begin = out.size();
    if (!data_.labels().empty()) append_label(row, out);
    const Matrix& features = data_.features();
    if (features.is_sparse()) {
      const SparseRow entries = features.sparse_row(row);
      for (std::size_t k = 0; k < entries.columns.size(); ++k)
        append_pair(row, entries.columns[k], entries.values[k], out);
    } else {
      const auto values = features.dense_row(row);
      for (std::size_t j = 0; j < values.size(); ++j)
        append_pair(row, static_cast<Index>(j), values[j], out);
    }
    // A line with nothing on it would be skipped, and the row lost.
    if (out.size() == begin) out += fmt::format(" {}:0", base_);
    if (data_.labels().empty()) out.erase(begin, 1);  // the blank before the first pair
    out += '\n';
  }

 private:
  void append_label(Index row, std::string& out) const {
    const std::string text = label_text(data_.labels(), row);
    if (text.find_first_of(" :#") != std::string::npos) {
      throw DataError(
          fmt::format("row {}: svmlight text cannot hold the label {} (blank, ':' or "
                      "'#'); write CSV",
                      row + 1, quote_text(text)));
    }
    out += text;
  }
  void append_pair(Index row, Index column, float value, std::string& out) const {
    if (value == 0.0F) return;
    check_finite(value, row, column);
    char buffer[24];
    buffer[0] = ' ';
    char* end = std::to_chars(buffer + 1, buffer + sizeof buffer, column + base_).ptr;
    *end++ = ':';
    out.append(buffer, end);
    append_float(out, value);
  }

  const Dataset& data_;
  int base_;
};

class CsvRows : public RowFormatter {
 public:
  explicit CsvRows(const Dataset& data) : data_(data) {}

  std::string header() const {
    std::string out;
    const auto names = data_.feature_names();
    for (Index j = 0; j < data_.cols(); ++j) {
      if (j > 0) out += ',';
      const std::string name =
          names.empty() ? fmt::format("f{}", j + 1) : names[static_cast<std::size_t>(j)];
      const bool is_taken = (name == "label" && data_.labels().kind() != LabelKind::none) ||
                            (name == "weight" && !data_.weights().empty());
      if (is_taken)
        throw DataError(
            fmt::format("feature {} is called '{}', as the column of {}s will be: "
                        "rename it, or write another format",
                        j + 1, name, name));
      append_text(name, out);
    }
    if (!data_.weights().empty()) out += ",weight";
    if (data_.labels().kind() != LabelKind::none) out += ",label";
    return out + '\n';
  }

  void append(Index row, std::string& out) const override {
    std::vector<float> copy;
    const std::span<const float> values = dense_values(data_.features(), row, &copy);
    for (std::size_t j = 0; j < values.size(); ++j) {
      check_finite(values[j], row, static_cast<Index>(j));
      if (j > 0) out += ',';
      append_float(out, values[j]);
    }
    char buffer[32];
    if (!data_.weights().empty()) {
      out += ',';
      out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, data_.weight(row)).ptr);
    }
    if (!data_.labels().empty()) {
      out += ',';
      append_text(label_text(data_.labels(), row), out);
    }
    out += '\n';
  }

 private:
  static void append_text(const std::string& text, std::string& out) {
    const bool plain = !text.empty() && text.find_first_of(",;\"\t\r") == std::string::npos &&
                       text.front() != ' ' && text.back() != ' ';
    if (text.find('\n') != std::string::npos)
      throw DataError(fmt::format("{} has a line break, which CSV cannot hold", quote_text(text)));
    if (plain) {
      out += text;
      return;
    }
    out += '"';
    for (const char c : text) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }

  const Dataset& data_;
};

Index blocks_at_once() { return Index{2} * loop_threads(); }

void refuse_weights(const Dataset& data, const char* format) {
  if (data.weights().empty()) return;
  throw DataError(fmt::format("{} has no place for row weights; write CSV", format));
}

void write_svmlight(const std::string& path, const Dataset& data, const WriteOptions& options,
                    const RunControl& control) {
  refuse_weights(data, "svmlight text");
  if (data.labels().kind() == LabelKind::none && data.cols() == 0)
    throw DataError("rows without labels and features cannot be written as svmlight text");
  GroupFile file(path, group_of(control), control);
  file.write_in_turn([&](ByteSink& sink) {
    write_rows(sink, SvmlightRows(data, options.index_base), data.rows(),
               data.features().num_stored() / std::max<Index>(1, data.rows()), control);
  });
  data.require_intact();
  file.commit();
}

void write_csv(const std::string& path, const Dataset& data, const RunControl& control) {
  if (data.cols() == 0) throw DataError("rows without features cannot be written as CSV");
  require_row_memory("writing CSV", data.cols(), control);
  GroupFile file(path, group_of(control), control);
  const CsvRows rows(data);
  file.write_once(rows.header());
  file.write_in_turn(
      [&](ByteSink& sink) { write_rows(sink, rows, data.rows(), data.cols(), control); });
  data.require_intact();
  file.commit();
}

}  // namespace

void require_row_memory(const char* what, Index cols, const RunControl& control) {
  constexpr Index kTextBytes = 16;  // of a value, or of a column's name
  require_column_memory(what, cols, kTextBytes * blocks_at_once() + 2 * kTextBytes,
                        memory_left(control.memory_bytes));
}

std::span<const float> dense_values(const Matrix& features, Index row, std::vector<float>* copy) {
  if (!features.is_sparse()) return features.dense_row(row);
  copy->resize(static_cast<std::size_t>(features.cols()));
  features.copy_row(row, *copy);
  return *copy;
}

void write_rows(ByteSink& file, const RowFormatter& formatter, Index rows, Index values_per_row,
                const RunControl& control) {
  constexpr Index kBlockValues = 32768;  // about 400 KB of text
  const Index block_rows = std::max<Index>(1, kBlockValues / (values_per_row + 1));
  const Index batch_rows = block_rows * blocks_at_once();
  std::vector<std::string> blocks(static_cast<std::size_t>(batch_rows / block_rows));
  std::vector<std::exception_ptr> errors(blocks.size());
  ProgressMeter meter(control, "write", rows);
  for (Index first = 0; first < rows; first += batch_rows) {
    const Index count = std::min(batch_rows, rows - first);
    parallel_each((count + block_rows - 1) / block_rows, [&](Index b) {
      const auto i = static_cast<std::size_t>(b);
      const Index begin = first + b * block_rows;
      const Index end = std::min(begin + block_rows, first + count);
      blocks[i].clear();
      try {
        for (Index row = begin; row < end; ++row) formatter.append(row, blocks[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      meter.add(end - begin);
    });
    // In order, so that the error reported is the first row's whatever the threads.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (errors[i]) std::rethrow_exception(errors[i]);
      file.write(blocks[i]);
      blocks[i].clear();
    }
  }
}

std::vector<std::string> files_written(const std::string& path, const WriteOptions& options) {
  std::vector<std::string> files{path};
  if (path != "-" && resolve_format(options.format, path) == DataFormat::npy)
    files.push_back(npy_labels_path(path));
  return files;
}

void write_dataset(const std::string& path, const Dataset& data, const WriteOptions& options,
                   const RunControl& control) {
  if (options.index_base != 0 && options.index_base != 1)
    throw InvalidArgument(fmt::format("index_base is {}: give 0 or 1", options.index_base));
  if (has_packed_ending(path)) {
    throw InvalidArgument(fmt::format(
        "{}: compressed output is not supported; write plain text and compress that", path));
  }
  if (sum_of_all(group_of(control), data.rows()) == 0) throw DataError(path + ": no rows to write");
  const DataFormat format = resolve_format(options.format, path);
  if (options.index_base != 1 && format != DataFormat::svmlight)
    throw InvalidArgument(path +
                          ": only svmlight text numbers its features: leave out the index base");
  with_threads(control.threads, [&] {
    if (format == DataFormat::csv) {
      write_csv(path, data, control);
    } else if (format == DataFormat::csr) {
      write_csr(path, data, control);
    } else if (format == DataFormat::npy) {
      refuse_weights(data, "a NumPy array");
      write_npy(path, data, control);
    } else {
      write_svmlight(path, data, options, control);
    }
  });
}

}  // namespace tamis

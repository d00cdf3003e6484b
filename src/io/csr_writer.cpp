// Sparse rows in binary form, written array after array.
#include <fmt/format.h>

#include <cmath>

#include "base/group.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "io/csr_format.hpp"
#include "io/row_writer.hpp"
#include "io/tensor_file.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

void append_bytes(const void* from, std::size_t size, std::string& out) {
  out.append(static_cast<const char*>(from), size);
}

// What of each row goes into one array: calls append(row, out).
template <typename Append>
class ArrayRows : public RowFormatter {
 public:
  explicit ArrayRows(const Append& append) : append_(append) {}
  void append(Index row, std::string& out) const override { append_(row, out); }

 private:
  const Append& append_;
};

// Values that are not zero, or those that a sparse row stores.
template <typename Use>
void visit_row(const Matrix& features, Index row, const Use& use) {
  if (features.is_sparse()) {
    const SparseRow entries = features.sparse_row(row);
    for (std::size_t k = 0; k < entries.columns.size(); ++k)
      use(entries.columns[k], entries.values[k]);
    return;
  }
  const auto values = features.dense_row(row);
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (values[j] != 0.0F) use(static_cast<std::int32_t>(j), values[j]);
  }
}

class CsrWriter {
 public:
  CsrWriter(OutputFile& file, const Dataset& data, const RunControl& control)
      : file_(file), data_(data), control_(control) {}

  void write() {
    const Matrix& features = data_.features();
    const Index rows = data_.rows();
    const auto row_begin = scratch_array<Index>("where rows begin", rows + 1, control_);
    Index* const begin = row_begin.values.get();
    parallel_ranges(rows, 1024, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        Index count = 0;
        visit_row(features, i, [&](std::int32_t, float) { ++count; });
        begin[i + 1] = count;
      }
    });
    for (Index i = 0; i < rows; ++i) begin[i + 1] += begin[i];
    const Index stored = begin[rows];
    per_row_ = stored / rows + 1;
    writer_.set_metadata("format", std::string(kCsrFormat));
    writer_.set_metadata("format_version", std::string(kCsrVersion));
    writer_.set_metadata("columns", std::to_string(data_.cols()));
    writer_.add("row_begin", {rows + 1}, std::span<const Index>(begin, usize(rows + 1)));
    add("values", Dtype::f32, stored, [&](Index row, std::string& out) {
      visit_row(features, row,
                [&](std::int32_t, float value) { append_bytes(&value, sizeof value, out); });
    });
    add("columns", Dtype::i32, stored, [&](Index row, std::string& out) {
      visit_row(features, row,
                [&](std::int32_t column, float) { append_bytes(&column, sizeof column, out); });
    });
    add_labels();
    if (!data_.weights().empty()) writer_.add("weights", {rows}, data_.weights());
    if (!data_.feature_names().empty())
      add_words(writer_, "feature_name_ends", "feature_names",
                {data_.feature_names().begin(), data_.feature_names().end()});
    writer_.write(file_);
  }

 private:
  template <typename Append>
  void add(const std::string& name, Dtype dtype, Index count, const Append& append) {
    writer_.add_written(name, dtype, count, [this, append] {
      write_rows(file_, ArrayRows<Append>(append), data_.rows(), per_row_, control_);
    });
  }

  void add_labels() {
    const Labels& labels = data_.labels();
    if (labels.kind() == LabelKind::numeric) {
      add("labels", Dtype::f64, data_.rows(), [&](Index row, std::string& out) {
        const double number = labels.number(row);
        if (!std::isfinite(number))
          throw DataError(
              fmt::format("row {}: the label is {}: it must be finite", row + 1, labels.name(row)));
        append_bytes(&number, sizeof number, out);
      });
    } else if (labels.kind() == LabelKind::text) {
      const Labels names = distinct_classes(labels);
      std::vector<std::string> words;
      for (Index c = 0; c < names.size(); ++c) words.push_back(names.name(c));
      writer_.add("label_codes", {data_.rows()}, encode_labels(labels, names));
      add_words(writer_, "label_name_ends", "label_names", words);
    }
  }

  OutputFile& file_;
  const Dataset& data_;
  const RunControl& control_;
  TensorWriter writer_;
  Index per_row_ = 1;  // values
};

}  // namespace

void write_csr(const std::string& path, const Dataset& data, const RunControl& control) {
  if (group_of(control).size() > 1)
    throw InvalidArgument(path + ": .csr is written by one process; write svmlight or .npy");
  require_finite(data.features());
  OutputFile file(path, control);
  CsrWriter(file, data, control).write();
  data.require_intact();
  file.commit();
}

}  // namespace tamis

// Sparse rows in binary form: mapped, checked once, and used where they lie.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/mapped_file.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "io/checked_files.hpp"
#include "io/csr_format.hpp"
#include "io/data_formats.hpp"
#include "io/tensor_file.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

Index parse_columns(const std::string& text) {
  Index columns = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (!is_number || columns < 0 || columns > std::numeric_limits<std::int32_t>::max())
    throw DataError(fmt::format("'columns' in the metadata is {}: it must be 0 to 2147483647",
                                quote_text(text)));
  return columns;
}

void check_header(const TensorFile& file) {
  if (file.metadata("format") != kCsrFormat)
    throw DataError(fmt::format("the format is {}, not {}: it is no table of rows",
                                quote_text(file.metadata("format")), kCsrFormat));
  if (file.metadata("format_version") != kCsrVersion)
    throw DataError(fmt::format("format version {}, but this program reads version {}",
                                quote_text(file.metadata("format_version")), kCsrVersion));
}

template <typename T>
void require_size(std::span<const T> values, Index rows, std::string_view name) {
  if (std::ssize(values) != rows)
    throw DataError(fmt::format("'{}' has {}, but there are {}", name,
                                counted(values.size(), "value"), counted(rows, "row")));
}

void check_values(const Matrix& features, bool allows_nan) {
  if (!allows_nan) {
    require_finite(features);
    return;
  }
  const auto values = features.sparse_values();
  std::atomic<bool> is_good = true;
  parallel_ranges(std::ssize(values), 65536, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      if (std::isinf(values[usize(k)])) is_good = false;
    }
  });
  if (!is_good) throw DataError("a value is infinite: values must be finite 32-bit floats");
}

struct RowOffsets {
  std::span<const Index> values;
  std::shared_ptr<const void> owner;  // of these and of the file
};

// Of a mapped file a copy: whatever becomes of the file later, rows stay within its arrays.
RowOffsets read_offsets(const TensorFile& file, const std::shared_ptr<const MappedFile>& mapped,
                        const RunControl& control) {
  const auto row_begin = file.get<Index>("row_begin", 1).values;
  if (!mapped) return {row_begin, file.owner()};
  struct Both {
    ScratchArray<Index> offsets;
    std::shared_ptr<const void> file;
  };
  auto both = std::make_shared<const Both>(
      Both{scratch_array<Index>("where rows begin", std::ssize(row_begin), control), file.owner()});
  std::copy(row_begin.begin(), row_begin.end(), both->offsets.values.get());
  mapped->require_intact();
  return {{both->offsets.values.get(), row_begin.size()}, both};
}

Matrix read_features(const TensorFile& file, const std::shared_ptr<const MappedFile>& mapped,
                     bool allows_nan, const RunControl& control) {
  const Index cols = parse_columns(file.metadata("columns"));
  const auto [row_begin, owner] = read_offsets(file, mapped, control);
  const auto columns = file.get<std::int32_t>("columns", 1).values;
  const auto values = file.get<float>("values", 1).values;
  const std::string_view finding = allows_nan ? "rows, finite or NaN" : "rows";
  const bool is_known =
      mapped && (was_found(mapped->stamp(), finding) || was_found(mapped->stamp(), "rows"));
  if (is_known)
    return Matrix::checked_sparse_view(cols, row_begin, columns, values, owner,
                                       was_found(mapped->stamp(), "ones"))
        .in_file(mapped, !allows_nan);
  Matrix features = Matrix::sparse_view(cols, row_begin, columns, values, owner);
  if (features.rows() == 0) throw DataError("no rows");
  check_values(features, allows_nan);
  if (!mapped) return features;
  mapped->require_intact();
  remember_finding(mapped->stamp(), finding);
  if (features.has_only_ones()) remember_finding(mapped->stamp(), "ones");
  return features.in_file(mapped, !allows_nan);
}

Labels text_of_numbers(const Labels& labels) {
  std::vector<std::string> words;
  for (Index i = 0; i < labels.size(); ++i) words.push_back(labels.name(i));
  return Labels::text(words);
}

Labels read_labels(const TensorFile& file, const std::shared_ptr<const MappedFile>& mapped,
                   Index rows, const ReadOptions& options) {
  if (options.label_column == "none") return {};
  if (file.has("labels")) {
    const auto numbers = file.get<double>("labels", 1).values;
    require_size(numbers, rows, "labels");
    if (!mapped || !was_found(mapped->stamp(), "labels")) {
      const auto bad =
          std::find_if(numbers.begin(), numbers.end(), [](double v) { return !std::isfinite(v); });
      if (bad != numbers.end())
        throw DataError(
            fmt::format("label {} is {}: labels must be finite", bad - numbers.begin() + 1, *bad));
      if (mapped) {
        mapped->require_intact();
        remember_finding(mapped->stamp(), "labels");
      }
    }
    const Labels labels = Labels::numeric_view(numbers, file.owner());
    if (options.labels_as_text) return text_of_numbers(labels);
    return mapped ? labels.in_file(mapped) : labels;
  }
  if (!file.has("label_codes")) return {};
  if (!options.text_labels) throw DataError("the labels are words: this task needs numbers");
  const auto codes = file.get<std::int32_t>("label_codes", 1).values;
  require_size(codes, rows, "label_codes");
  return Labels::text({codes.begin(), codes.end()},
                      get_words(file, "label_name_ends", "label_names"));
}

Dataset read_table(const ParseInput& source, const TensorFile& file,
                   const std::shared_ptr<const MappedFile>& mapped, const ReadOptions& options,
                   const RunControl& control) {
  check_header(file);
  Matrix features = read_features(file, mapped, allows_missing(options), control);
  Labels labels = read_labels(file, mapped, features.rows(), options);
  std::vector<double> weights;
  if (file.has("weights")) {
    const auto given = file.get<double>("weights", 1).values;
    require_size(given, features.rows(), "weights");
    weights.assign(given.begin(), given.end());
  }
  std::vector<std::string> names;
  if (file.has("feature_names")) names = get_words(file, "feature_name_ends", "feature_names");
  Dataset data(std::move(features), std::move(labels), std::move(weights), std::move(names));
  const Group& group = group_of(control);
  if (group.size() > 1) {
    const RowRange range = share_of(source, data.rows(), group);
    data = data.slice(range.begin, range.end);
  }
  if (data.cols() < options.min_features)
    data = data.with_features(data.features().with_cols(options.min_features));
  return data;
}

}  // namespace

bool is_csr(std::string_view bytes) {
  constexpr std::size_t kHead = 200;
  return bytes.size() > 9 && bytes[8] == '{' &&
         bytes.substr(0, kHead).find(fmt::format("\"format\":\"{}\"", kCsrFormat)) !=
             std::string_view::npos;
}

Dataset parse_csr(const ParseInput& source, const ReadOptions& options, const RunControl& control) {
  InputBytes input = source.input;
  if (input.file) input = load_input(source.name, input, control, true);
  const std::shared_ptr<const MappedFile> mapped = input.mapped;
  try {
    return read_table(source, TensorFile(std::move(input), std::string(kCsrKind)), mapped, options,
                      control);
  } catch (const DataError& error) {
    if (mapped) mapped->require_intact();  // it may be the reason for any other
    throw DataError(source.name + ": " + error.what());
  }
}

}  // namespace tamis

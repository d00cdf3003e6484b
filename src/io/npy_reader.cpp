// NumPy arrays: features as a matrix, labels as numbers or strings.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "io/data_formats.hpp"
#include "io/npy_elements.hpp"
#include "io/npy_header.hpp"
#include "io/npy_mapping.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// The data may lie at any address: compressed files are unpacked anywhere.
template <typename T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A part of the elements that is read at a time.
constexpr Index kPieceElements = 65536;

// The element nearest to the beginning that is not finite, whichever thread found it.
class FirstBad {
 public:
  void note(Index element) {
    Index seen = first_.load();
    while (element < seen && !first_.compare_exchange_weak(seen, element)) {
    }
  }
  /// -1: there is none.
  Index element() const { return first_ == kNone ? -1 : first_.load(); }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  std::atomic<Index> first_{kNone};
};

class MatrixReader {
 public:
  /// Of an array of `rows` rows, those in `range`.
  MatrixReader(const ParseInput& source, const NpyArray& array, Index rows, Index cols,
               RowRange range, bool missing_values)
      : source_(source),
        array_(array),
        all_rows_(rows),
        first_row_(range.begin),
        rows_(range.size()),
        cols_(cols),
        allows_nan_(missing_values) {}

  void read(float* out, const RunControl& control) {
    ProgressMeter meter(control, "read", rows_ * cols_);
    with_element_type(array_, [&](auto type) {
      using T = decltype(type);
      if (array_.fortran_order)
        copy_tiles<T>(out, meter);
      else
        copy_rows<T>(out, meter);
    });
    const Index bad = bad_.element();
    if (bad >= 0) fail_not_finite(source_.name, first_row_ + bad / cols_, bad % cols_, at(bad));
  }

 private:
  template <typename T>
  void copy(T value, Index element, float* out) {
    out[element] = static_cast<float>(value);
    if (!std::isfinite(out[element]) && !(allows_nan_ && std::isnan(out[element])))
      bad_.note(element);
  }

  // Row after row, as they are kept.
  template <typename T>
  void copy_rows(float* out, ProgressMeter& meter) {
    const Index count = rows_ * cols_;
    parallel_each((count + kPieceElements - 1) / kPieceElements, [&](Index p) {
      const Index begin = p * kPieceElements;
      const Index end = std::min(count, begin + kPieceElements);
      PieceBuffer buffer;
      const char* const from = elements<T>(first_row_ * cols_ + begin, end - begin, buffer);
      for (Index k = begin; k < end; ++k)
        copy(load<T>(from + (k - begin) * Index{sizeof(T)}), k, out);
      meter.add(end - begin);
    });
  }

  // Column after column: some rows of some columns at a time, so that what is read and what is
  // written stays near.
  template <typename T>
  void copy_tiles(float* out, ProgressMeter& meter) {
    constexpr Index kTileCols = 256;
    const Index tile_rows = std::max<Index>(512, kPieceElements / std::min(cols_, kTileCols));
    const Index down = (rows_ + tile_rows - 1) / tile_rows;
    const Index across = (cols_ + kTileCols - 1) / kTileCols;
    parallel_each(down * across, [&](Index t) {
      const Index top = t / across * tile_rows;
      const Index height = std::min(tile_rows, rows_ - top);
      const Index left = t % across * kTileCols;
      const Index width = std::min(kTileCols, cols_ - left);
      PieceBuffer buffer;
      for (Index j = left; j < left + width; ++j) {
        const char* const from = elements<T>(j * all_rows_ + first_row_ + top, height, buffer);
        for (Index i = 0; i < height; ++i)
          copy(load<T>(from + i * Index{sizeof(T)}), (top + i) * cols_ + j, out);
      }
      meter.add(height * width);
    });
  }

  template <typename T>
  const char* elements(Index first, Index count, PieceBuffer& buffer) const {
    return source_.input
        .piece(array_.data_begin + first * Index{sizeof(T)}, count * Index{sizeof(T)}, buffer)
        .data();
  }

  // Element (row, column) as row * cols + column.
  double at(Index element) const {
    const Index i = element / cols_;
    const Index j = element % cols_;
    double value = 0;
    PieceBuffer buffer;
    with_element_type(array_, [&](auto type) {
      using T = decltype(type);
      const Index stored =
          array_.fortran_order ? j * all_rows_ + first_row_ + i : first_row_ * cols_ + element;
      value = static_cast<double>(load<T>(elements<T>(stored, 1, buffer)));
    });
    return value;
  }

  const ParseInput& source_;
  const NpyArray& array_;
  Index all_rows_;
  Index first_row_;
  Index rows_;
  Index cols_;
  bool allows_nan_;
  FirstBad bad_;
};

Matrix read_matrix(const ParseInput& source, const NpyArray& array, const ReadOptions& options,
                   const RunControl& control) {
  if (!is_numeric(array)) throw DataError(source.name + ": the features are strings, not numbers");
  if (array.shape.empty() || array.shape.size() > 2) {
    throw DataError(fmt::format("{}: {}: features have two, rows and columns", source.name,
                                counted(array.shape.size(), "dimension")));
  }
  const Index rows = array.shape[0];
  const Index cols = array.shape.size() == 2 ? array.shape[1] : 1;
  if (rows == 0) throw DataError(source.name + ": no rows: the array is empty");
  if (cols == 0) throw DataError(source.name + ": no columns: the array is empty");
  if (cols > std::numeric_limits<std::int32_t>::max())
    throw DataError(fmt::format("{}: {} columns are too many", source.name, cols));
  const RowRange range = share_of(source, rows, group_of(control));
  const bool allows_nan = allows_missing(options);
  if (auto mapped =
          mapped_matrix(source, array, range.begin, range.size(), cols, allows_nan, control))
    return std::move(*mapped);
  const std::int64_t bytes = checked_product(checked_product(range.size(), cols), sizeof(float));
  require_memory("reading " + source.name, checked_sum(bytes, source.input.heap_bytes),
                 resolve_memory_budget(control.memory_bytes));
  auto values = std::make_shared_for_overwrite<float[]>(usize(range.size() * cols));
  MatrixReader(source, array, rows, cols, range, allows_nan).read(values.get(), control);
  const float* data = values.get();
  return Matrix::dense_view(range.size(), cols, data, std::move(values));
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80U | (code >> shift & 0x3FU));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6U);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12U);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | code >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

// One string element; NumPy pads with zeros.
std::string string_label(const NpyArray& array, std::string_view item) {
  if (array.kind == 'S') return std::string(item.substr(0, item.find_last_not_of('\0') + 1));
  std::string text;
  for (std::size_t k = 0; k < item.size(); k += 4) {
    const auto code = load<std::uint32_t>(item.data() + k);
    if (code == 0) {
      if (item.find_first_not_of('\0', k) != std::string_view::npos)
        throw TextProblem{item.data() + k, "character 0 within a label"};
      break;
    }
    if (code > 0x10FFFF)
      throw TextProblem{item.data() + k, fmt::format("0x{:x} is no character", code)};
    append_utf8(text, code);
  }
  return text;
}

// Calls use(i, bytes) for every element in `range`, in order; i counts all elements.
template <typename Use>
void each_label(const ParseInput& source, const NpyArray& array, RowRange range,
                const RunControl& control, const Use& use) {
  const Index step = std::max<Index>(1, kPieceElements / array.item_bytes);
  ProgressMeter meter(control, "read", range.size());
  PieceBuffer buffer;
  for (Index begin = range.begin; begin < range.end; begin += step) {
    const Index some = std::min(step, range.end - begin);
    const std::string_view piece = source.input.piece(array.data_begin + begin * array.item_bytes,
                                                      some * array.item_bytes, buffer);
    for (Index i = 0; i < some; ++i)
      use(begin + i, piece.substr(usize(i * array.item_bytes), usize(array.item_bytes)));
    meter.add(some);
  }
}

Labels read_string_labels(const ParseInput& source, const NpyArray& array, RowRange range,
                          const ReadOptions& options, const RunControl& control) {
  std::vector<std::string> words;
  each_label(source, array, range, control, [&](Index i, std::string_view item) {
    try {
      words.push_back(string_label(array, item));
      const std::string& word = words.back();
      if (word.empty()) throw DataError(fmt::format("{}: label {} is empty", source.name, i + 1));
      check_word_label(word.data(), word, options.text_labels);
    } catch (const TextProblem& problem) {
      throw DataError(fmt::format("{}: label {}: {}", source.name, i + 1, problem.message));
    }
  });
  return Labels::text(words);
}

// Numbers with all their digits, for those that would become equal as doubles.
template <typename T>
Labels whole_number_texts(const ParseInput& source, const NpyArray& array, RowRange range,
                          const RunControl& control) {
  std::vector<std::string> words;
  each_label(source, array, range, control, [&](Index, std::string_view item) {
    words.push_back(fmt::format("{}", load<T>(item.data())));
  });
  return Labels::text(words);
}

template <typename T>
Labels read_number_labels(const ParseInput& source, const NpyArray& array, RowRange range,
                          const ReadOptions& options, const RunControl& control) {
  std::vector<double> numbers;
  bool as_text = options.labels_as_text;
  each_label(source, array, range, control, [&](Index i, std::string_view item) {
    const T value = load<T>(item.data());
    numbers.push_back(static_cast<double>(value));
    as_text = as_text || (options.text_labels && is_rounded(value));
    if (std::isfinite(numbers.back())) return;
    throw DataError(fmt::format("{}: label {} is {}: labels must be finite", source.name, i + 1,
                                numbers.back()));
  });
  as_text = any_of_all(group_of(control), as_text);
  return as_text ? whole_number_texts<T>(source, array, range, control)
                 : Labels::numeric(std::move(numbers));
}

Labels read_labels(const ParseInput& source, const NpyArray& array, RowRange range,
                   const ReadOptions& options, const RunControl& control) {
  auto mapped = mapped_labels(source, array, range.begin, range.size(), options, control);
  // Of all ranks or of none: some may have found a number that only text can keep.
  if (!any_of_all(group_of(control), !mapped)) return std::move(*mapped);
  const Index row_bytes = is_numeric(array)
                              ? Index{sizeof(double)}
                              : checked_sum(array.item_bytes, Index{sizeof(std::string)});
  require_memory("reading " + source.name, checked_product(range.size(), row_bytes),
                 resolve_memory_budget(control.memory_bytes) - source.input.heap_bytes);
  if (!is_numeric(array)) return read_string_labels(source, array, range, options, control);
  Labels labels;
  with_element_type(array, [&](auto type) {
    labels = read_number_labels<decltype(type)>(source, array, range, options, control);
  });
  return labels;
}

NpyArray labels_header(const ParseInput& labels, const ParseInput& source, Index rows) {
  NpyArray array = read_npy_header(labels.name, labels.input);
  const bool flat = !array.shape.empty() && std::all_of(array.shape.begin() + 1, array.shape.end(),
                                                        [](Index n) { return n == 1; });
  if (!flat) throw DataError(labels.name + ": labels must be an array of one dimension");
  if (array.shape[0] == rows) return array;
  throw DataError(fmt::format("{}: {}, but {} has {}", labels.name,
                              counted(array.shape[0], "label"), source.name, counted(rows, "row")));
}

}  // namespace

Dataset parse_npy(const ParseInput& source, const ParseInput& labels, const ReadOptions& options,
                  const RunControl& control) {
  const NpyArray array = read_npy_header(source.name, source.input);
  Matrix features = read_matrix(source, array, options, control);
  if (features.cols() < options.min_features) features = features.with_cols(options.min_features);
  if (labels.name.empty()) return Dataset(std::move(features));
  const NpyArray header = labels_header(labels, source, array.shape[0]);
  const RowRange range = share_of(source, array.shape[0], group_of(control));
  return Dataset(std::move(features), read_labels(labels, header, range, options, control));
}

}  // namespace tamis

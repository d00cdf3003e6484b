// NumPy arrays: features as a matrix, labels as numbers or strings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "io/data_formats.hpp"
#include "io/npy_header.hpp"
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

// Calls use(T()) with the element type of a numeric array; each loop is compiled for its type.
template <typename Use>
void with_element_type(const NpyArray& array, const Use& use) {
  const auto pick = [&]<typename A, typename B, typename C, typename D>(A a, B b, C c, D d) {
    if (array.item_bytes == 1) use(a);
    if (array.item_bytes == 2) use(b);
    if (array.item_bytes == 4) use(c);
    if (array.item_bytes == 8) use(d);
  };
  if (array.kind == 'f' && array.item_bytes == 4) use(float{});
  if (array.kind == 'f' && array.item_bytes == 8) use(double{});
  if (array.kind == 'i') pick(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
  if (array.kind == 'u' || array.kind == 'b')
    pick(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
}

bool is_numeric(const NpyArray& array) { return array.kind != 'U' && array.kind != 'S'; }

[[noreturn]] void fail_not_finite(const std::string& name, Index row, Index col, double value) {
  throw DataError(fmt::format("{}: row {}, column {} is {}: values must be finite 32-bit floats",
                              name, row + 1, col + 1, value));
}

// Element (i, j) is data[i * row_step + j * col_step].
struct Steps {
  Index row;
  Index col;
};

template <typename T>
void copy_rows(const std::string& name, const NpyArray& array, Steps steps, Index cols, Index begin,
               Index end, float* out) {
  for (Index i = begin; i < end; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const T value =
          load<T>(array.data.data() + (i * steps.row + j * steps.col) * Index{sizeof(T)});
      out[i * cols + j] = static_cast<float>(value);
      if (!std::isfinite(out[i * cols + j]))
        fail_not_finite(name, i, j, static_cast<double>(value));
    }
  }
}

// Keeps the message of the first bad row, whichever thread found it.
class FirstFailure {
 public:
  template <typename Work>
  void run(Index begin, const Work& work) {
    try {
      work();
    } catch (const DataError& error) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (begin >= begin_) return;
      begin_ = begin;
      message_ = error.what();
    }
  }
  void rethrow() const {
    if (!message_.empty()) throw DataError(message_);
  }

 private:
  std::mutex mutex_;
  Index begin_ = std::numeric_limits<Index>::max();
  std::string message_;
};

Matrix read_matrix(const ParseInput& source, const NpyArray& array, const RunControl& control) {
  if (!is_numeric(array)) throw DataError(source.name + ": the features are strings, not numbers");
  if (array.shape.empty() || array.shape.size() > 2) {
    throw DataError(fmt::format("{}: {}: features have two, rows and columns", source.name,
                                counted(array.shape.size(), "dimension")));
  }
  const Index rows = array.shape[0];
  const Index cols = array.shape.size() == 2 ? array.shape[1] : 1;
  if (rows == 0) throw DataError(source.name + ": no rows: the array is empty");
  if (cols > std::numeric_limits<std::int32_t>::max())
    throw DataError(fmt::format("{}: {} columns are too many", source.name, cols));
  const std::int64_t bytes = checked_product(checked_product(rows, cols), sizeof(float));
  require_memory("reading " + source.name, checked_sum(bytes, source.input.heap_bytes),
                 resolve_memory_budget(control.memory_bytes));
  auto values = std::make_shared_for_overwrite<float[]>(static_cast<std::size_t>(rows * cols));
  const Steps steps = array.fortran_order ? Steps{1, rows} : Steps{cols, 1};
  ProgressMeter meter(control, "read", rows);
  FirstFailure failure;
  const Index grain = std::max<Index>(1, 65536 / std::max<Index>(1, cols));
  parallel_ranges(rows, grain, [&](Index begin, Index end) {
    for (Index from = begin; from < end; from += grain) {
      const Index to = std::min(end, from + grain);
      failure.run(from, [&] {
        with_element_type(array, [&](auto type) {
          copy_rows<decltype(type)>(source.name, array, steps, cols, from, to, values.get());
        });
      });
      meter.add(to - from);
    }
  });
  failure.rethrow();
  const float* data = values.get();
  return Matrix::dense_view(rows, cols, data, std::move(values));
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
std::string string_label(const NpyArray& array, Index i) {
  const std::string_view item = array.data.substr(static_cast<std::size_t>(i * array.item_bytes),
                                                  static_cast<std::size_t>(array.item_bytes));
  if (array.kind == 'S') return std::string(item.substr(0, item.find_last_not_of('\0') + 1));
  std::string text;
  for (std::size_t k = 0; k < item.size(); k += 4) {
    const auto code = load<std::uint32_t>(item.data() + k);
    if (code == 0) break;
    append_utf8(text, std::min<std::uint32_t>(code, 0x10FFFF));
  }
  return text;
}

Labels read_string_labels(const ParseInput& source, const NpyArray& array, Index count,
                          const ReadOptions& options) {
  std::vector<std::string> words;
  words.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    words.push_back(string_label(array, i));
    const std::string& word = words.back();
    if (word.empty()) throw DataError(fmt::format("{}: label {} is empty", source.name, i + 1));
    try {
      check_word_label(word.data(), word, options.text_labels);
    } catch (const TextProblem& problem) {
      throw DataError(fmt::format("{}: label {}: {}", source.name, i + 1, problem.message));
    }
  }
  return Labels::text(words);
}

Labels read_labels(const ParseInput& source, const ReadOptions& options) {
  const NpyArray array = read_npy_header(source.name, source.input.bytes);
  Index count = array.shape.empty() ? 0 : 1;
  for (const Index size : array.shape) count = checked_product(count, size);
  if (array.shape.empty() || count != array.shape[0]) {
    throw DataError(source.name + ": labels must be an array of one dimension");
  }
  if (!is_numeric(array)) return read_string_labels(source, array, count, options);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  with_element_type(array, [&](auto type) {
    using T = decltype(type);
    for (Index i = 0; i < count; ++i)
      numbers[static_cast<std::size_t>(i)] =
          static_cast<double>(load<T>(array.data.data() + i * Index{sizeof(T)}));
  });
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i]))
      throw DataError(
          fmt::format("{}: label {} is {}: labels must be finite", source.name, i + 1, numbers[i]));
  }
  return Labels::numeric(std::move(numbers));
}

}  // namespace

Dataset parse_npy(const ParseInput& source, const ParseInput& labels, const ReadOptions& options,
                  const RunControl& control) {
  const NpyArray array = read_npy_header(source.name, source.input.bytes);
  Matrix features = read_matrix(source, array, control);
  if (features.cols() < options.min_features) features = features.with_cols(options.min_features);
  if (labels.name.empty()) return Dataset(std::move(features));
  Labels read = read_labels(labels, options);
  if (read.size() != features.rows()) {
    throw DataError(fmt::format("{}: {}, but {} has {}", labels.name, counted(read.size(), "label"),
                                source.name, counted(features.rows(), "row")));
  }
  return Dataset(std::move(features), std::move(read));
}

}  // namespace tamis

#include "io/npy_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/checked.hpp"
#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "io/checked_files.hpp"
#include "io/npy_elements.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kPieceElements = Index{1} << 20;

std::shared_ptr<const MappedFile> map_large(const ParseInput& source) {
  const auto& file = source.input.file;
  auto mapped = file && file->size() >= kMappedBytes ? file->map() : nullptr;
  // The header was checked against the size that the file had when it was opened.
  if (mapped && std::ssize(mapped->bytes()) != file->size())
    throw DataError(source.name +
                    ": the file changed while it was read; run again when it is complete");
  return mapped;
}

// The first place in [begin, end) where `is_bad` holds, found by pieces on all threads; -1: none.
template <typename T, typename IsBad>
Index first_bad(const T* values, Index begin, Index end, const RunControl& control,
                const IsBad& is_bad) {
  std::atomic<Index> first = end;
  ProgressMeter meter(control, "check", end - begin);
  parallel_ranges(end - begin, kPieceElements, [&](Index from, Index to) {
    for (Index piece = begin + from; piece < begin + to; piece += kPieceElements) {
      const Index last = std::min(begin + to, piece + kPieceElements);
      bool any = false;
      for (Index k = piece; k < last; ++k) any |= is_bad(values[k]);
      if (any) {
        const Index k = std::find_if(values + piece, values + last, is_bad) - values;
        Index seen = first;
        while (k < seen && !first.compare_exchange_weak(seen, k)) {
        }
      }
      meter.add(last - piece);
    }
  });
  return first == end ? -1 : first.load();
}

}  // namespace

void fail_not_finite(const std::string& name, Index row, Index col, double value) {
  throw DataError(fmt::format("{}: row {}, column {} is {}: values must be finite 32-bit floats",
                              name, row + 1, col + 1, value));
}

std::optional<Matrix> mapped_matrix(const ParseInput& source, const NpyArray& array, Index first,
                                    Index rows, Index cols, bool allows_nan,
                                    const RunControl& control) {
  const bool is_plain = array.kind == 'f' && array.item_bytes == Index{sizeof(float)} &&
                        (!array.fortran_order || cols == 1) &&
                        array.data_begin % Index{alignof(float)} == 0;
  const auto file = is_plain ? map_large(source) : nullptr;
  if (!file) return std::nullopt;
  const auto* const values =
      reinterpret_cast<const float*>(file->bytes().data() + array.data_begin);
  const std::string_view finding = allows_nan ? "finite or NaN" : "finite";
  const bool is_known = was_found(file->stamp(), "finite") || was_found(file->stamp(), finding);
  if (!is_known) {
    const auto is_bad = [allows_nan](float v) {
      return !std::isfinite(v) && !(allows_nan && std::isnan(v));
    };
    const Index bad = first_bad(values, first * cols, (first + rows) * cols, control, is_bad);
    if (bad >= 0) {
      const double value = static_cast<double>(values[bad]);
      file->require_intact();
      fail_not_finite(source.name, bad / cols, bad % cols, value);
    }
    file->require_intact();
    if (rows == array.shape[0]) remember_finding(file->stamp(), finding);
  }
  return Matrix::dense_view(rows, cols, values + first * cols, file).in_file(file, !allows_nan);
}

std::optional<Labels> mapped_labels(const ParseInput& source, const NpyArray& array, Index first,
                                    Index count, const ReadOptions& options,
                                    const RunControl& control) {
  if (options.labels_as_text || !is_numeric(array) || array.data_begin % array.item_bytes != 0)
    return std::nullopt;
  const auto file = map_large(source);
  if (!file) return std::nullopt;
  std::optional<Labels> labels;
  with_element_type(array, [&](auto type) {
    using T = decltype(type);
    const auto* const values = reinterpret_cast<const T*>(file->bytes().data() + array.data_begin);
    if (!was_found(file->stamp(), "labels")) {
      const Index bad = first_bad(values, first, first + count, control, [](T v) {
        return !std::isfinite(static_cast<double>(v)) || is_rounded(v);
      });
      file->require_intact();
      if (bad >= 0) return;  // whoever reads them says what is wrong, or keeps the digits as text
      if (count == array.shape[0]) remember_finding(file->stamp(), "labels");
    }
    labels =
        Labels::numeric_view(std::span<const T>(values + first, usize(count)), file).in_file(file);
  });
  return labels;
}

}  // namespace tamis

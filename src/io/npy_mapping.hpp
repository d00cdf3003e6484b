// NumPy arrays that need no copy: they are used where the mapped file has them.
#pragma once

#include <optional>

#include "io/data_formats.hpp"
#include "io/npy_header.hpp"

namespace tamis {

/// The rows [first, first + rows) of a float32 array in C order, in the mapped file; none if the
/// file is small, compressed, of another type or order, or cannot be mapped. The values are checked
/// as those that are read are, once: see checked_files.hpp. Throws DataError, Cancelled.
std::optional<Matrix> mapped_matrix(const ParseInput& source, const NpyArray& array, Index first,
                                    Index rows, Index cols, bool allows_nan,
                                    const RunControl& control);

/// The numbers [first, first + count) of an array of labels, in the mapped file. None also where
/// labels are to be text, or a number has more digits than a double.
std::optional<Labels> mapped_labels(const ParseInput& source, const NpyArray& array, Index first,
                                    Index count, const ReadOptions& options,
                                    const RunControl& control);

/// Throws DataError "NAME: row 1, column 2 is nan: ...", counted from 1.
[[noreturn]] void fail_not_finite(const std::string& name, Index row, Index col, double value);

}  // namespace tamis

// The parsers behind read_dataset(), apart from files: text in, Dataset out. Each runs in the
// caller's task arena (see with_threads). The result and the error thrown depend neither on the
// threads nor on `chunk_bytes`, which is a parameter so that tests can make it tiny.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "io/file_place.hpp"
#include "io/input_bytes.hpp"
#include "io/text_chunks.hpp"
#include "tamis/io.hpp"

namespace tamis {

struct ParseInput {
  std::string name;  // for messages
  InputBytes input;
  FilePlace place = {};  // among the files that are read together
};

/// The rows of an array or table that a rank reads.
struct RowRange {
  Index begin = 0;
  Index end = 0;
  Index size() const { return end - begin; }
};

/// Of one file all ranks have as many rows; of several, those of their part of the bytes.
inline RowRange share_of(const ParseInput& source, Index rows, const Group& group) {
  const auto begin = [&](int rank) {
    if (source.place.total == 0) return share_begin(rows, rank, group.size());
    if (rank == group.size()) return rows;
    const std::int64_t size = source.input.size();
    const std::int64_t row_bytes = std::max<std::int64_t>(1, size / std::max<Index>(1, rows));
    return std::min(rows, share_begin(source.place, size, rank, group.size()) / row_bytes);
  };
  return {begin(group.rank()), begin(group.rank() + 1)};
}

/// `label idx:val idx:val ... # comment`. An optional qid:n is ignored. Throws ParseError.
Dataset parse_svmlight(const ParseInput& source, const ReadOptions& options,
                       const RunControl& control, std::int64_t chunk_bytes = kTextChunkBytes);

/// Fields separated by the commonest of `,` `;` and tab in the first line, which is a header if one
/// of its features is not a number. Throws ParseError, or DataError if a column is not there.
Dataset parse_csv(const ParseInput& source, const ReadOptions& options, const RunControl& control,
                  std::int64_t chunk_bytes = kTextChunkBytes);

/// A NumPy array of one or two dimensions; `labels`, if it has bytes, is an array of labels. Throws
/// DataError.
Dataset parse_npy(const ParseInput& source, const ParseInput& labels, const ReadOptions& options,
                  const RunControl& control);

/// The binary table of sparse rows, see docs/formats.md. Throws DataError.
Dataset parse_csr(const ParseInput& source, const ReadOptions& options, const RunControl& control);

/// Whether values may be missing: the options say so, or the model that the rows are for.
inline bool allows_missing(const ReadOptions& options) {
  return options.missing_values || !options.columns.fills.empty();
}

/// Throws InvalidArgument for options that files of this format have no use for.
void require_usable(const std::string& name, DataFormat format, const ReadOptions& options);

/// True if the bytes begin as a NumPy file does.
bool is_npy(std::string_view bytes);

/// True if the bytes begin as a binary table of sparse rows does.
bool is_csr(std::string_view bytes);

/// True for .gz, .xz, .bz2 and .zst.
bool has_packed_ending(std::string_view path);

/// Where the labels of X.npy are written: X.labels.npy.
std::string npy_labels_path(std::string_view path);

/// The path without .npy, compression endings stripped: what the names of label files begin with.
std::string npy_stem(std::string_view path);

}  // namespace tamis

// Fields and columns of comma-separated text (RFC 4180, without line breaks inside quotes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/text_chunks.hpp"
#include "tamis/io.hpp"

namespace tamis {

/// One field. `content` has no outer quotes and no blanks around it, but a quoted field still has
/// its doubled quotes; `next` is the delimiter or line end behind it.
struct CsvField {
  std::string_view content;
  const char* next = nullptr;
  bool quoted = false;
};

/// Reads the field at `p`, up to the delimiter or '\n'. Throws TextProblem on broken quotes.
CsvField scan_csv_field(const char* p, char delimiter);
/// The field's text, doubled quotes made single.
std::string csv_field_text(const CsvField& field);

/// Whether the field stands for a missing value: empty, `nan` in any case, `NA` or `?`.
bool is_missing_field(const CsvField& field);
/// Whether the field, in quotes or not, is a number.
bool is_number_field(const CsvField& field);

/// How the values of a column are read.
enum class CsvKind : std::uint8_t {
  number,
  text,
  ignored,  ///< the model that the rows are for does not know the column
};

/// What a file's first line and the options say about its columns.
struct CsvLayout {
  char delimiter = ',';
  Index columns = 0;
  Index label = -1;                 // -1: none
  Index weight = -1;                // -1: none
  std::int64_t header_offset = -1;  // of the header line in the text, -1: there is none
  std::vector<std::string> names;   // of all columns; empty without header
  std::vector<CsvKind> kinds;       // of all columns; empty: all are numbers

  CsvKind kind(Index column) const {
    return kinds.empty() ? CsvKind::number : kinds[static_cast<std::size_t>(column)];
  }
  Index features() const { return columns - (label >= 0 ? 1 : 0) - (weight >= 0 ? 1 : 0); }
  /// "column 'age'" or "column 3", for messages; `column` from 0.
  std::string describe(Index column) const;
  std::vector<std::string> feature_names() const;
};

/// Throws DataError when a column asked for is not there, or none is left for features;
/// ResourceError when the first line is beyond the budget; Cancelled.
CsvLayout detect_csv_layout(const ChunkedText& text, const ReadOptions& options,
                            std::int64_t budget_bytes, const RunControl& control);

/// The kinds of the columns: as the model that the rows are for has them, or by the first 1,000
/// rows. Empty if all are numbers. Throws ResourceError.
std::vector<CsvKind> find_column_kinds(const ChunkedText& text, const CsvLayout& layout,
                                       const ReadOptions& options, std::int64_t budget_bytes);

}  // namespace tamis

// What the text readers share: the text in chunks of whole lines, the rows parsed from each chunk,
// the first error in file order, and the chunks put together as one Dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/input_bytes.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Small enough for many tasks and quick cancelling, large enough to hide the cost of a task.
inline constexpr std::int64_t kTextChunkBytes = std::int64_t{1} << 20;

/// Lines of a text, the last one ended by '\n' without exception, so that parsers need no other
/// bound. `offset` is the place of `begin` in the whole text.
struct TextChunk {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::int64_t offset = 0;
};

/// A text cut into chunks of about `chunk_bytes`. Keeps a copy of the last line when that has no
/// line end. A byte order mark is left out; text in UTF-16 throws DataError.
class ChunkedText {
 public:
  ChunkedText(std::string name, std::string_view text, std::int64_t chunk_bytes);
  ChunkedText(const ChunkedText&) = delete;
  ChunkedText& operator=(const ChunkedText&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<TextChunk>& chunks() const { return chunks_; }
  /// Throws ParseError for the byte at `offset`.
  [[noreturn]] void fail_at(std::int64_t offset, const std::string& message) const;

 private:
  std::string name_;
  std::string_view text_;
  std::string last_line_;
  std::vector<TextChunk> chunks_;
};

/// Thrown by a parser of one chunk, and turned into a ParseError once it is known to be the first.
struct TextProblem {
  const char* where;
  std::string message;
};

struct Entry {
  std::int32_t column;
  float value;
};

struct ParsedRow {
  Index entries_end;       // within the chunk
  double label_number;     // meaningless unless the chunk's labels are all numbers
  const char* label_text;  // where the label begins; null: the row has none
};

/// The rows of one chunk. Zeros are not stored.
struct RowChunk {
  std::unique_ptr<Entry[]> entries;
  Index entry_count = 0;
  std::vector<ParsedRow> rows;
  std::vector<double> weights;
  Index cols = 0;             // one past the largest column, explicit zeros included
  std::int64_t left_out = 0;  // values beyond ReadOptions::max_features
  bool numeric_labels = true;
  std::int64_t first_labelled = -1;    // offset in the text, -1: none
  std::int64_t first_unlabelled = -1;  // offset in the text, -1: none
};

/// Parses one chunk; throws TextProblem. Called from many threads.
class ChunkParser {
 public:
  ChunkParser() = default;
  ChunkParser(const ChunkParser&) = delete;
  ChunkParser& operator=(const ChunkParser&) = delete;
  virtual ~ChunkParser() = default;
  virtual void parse(const TextChunk& chunk, RowChunk& out) const = 0;
  /// The label that begins at `text`, as it is written.
  virtual std::string label_at(const char* text) const = 0;
};

/// Parses all chunks in parallel. Throws the ParseError that comes first in the text whatever the
/// number of threads, DataError when there are no rows, ResourceError beyond `budget_bytes`.
std::vector<RowChunk> parse_chunks(const ChunkedText& text, const ChunkParser& parser,
                                   std::int64_t budget_bytes, const RunControl& control);

/// Dense when that takes at most 1.5 times the memory of CSR, or a quarter of the values are not
/// zero: dense rows compute faster, and half of CSR's memory goes into column numbers.
bool store_dense(Index rows, Index cols, Index nonzeros);

/// Consumes the entries of the chunks. `what` names the work in a ResourceError.
Matrix assemble_matrix(std::vector<RowChunk>& chunks, Index cols, std::int64_t budget_bytes,
                       const std::string& what);
/// Numbers if every label is one, else words; none if no row has one.
Labels assemble_labels(const std::vector<RowChunk>& chunks, const ChunkParser& parser);
std::vector<double> assemble_weights(const std::vector<RowChunk>& chunks);

/// The text in quotes for a message: bytes that are not printable escaped, long text cut.
std::string quote_text(std::string_view text);
/// Why `token`, read as a number and refused, is not acceptable: "'nan' is not finite", "'1e99' is
/// too large", "'abc' is not a number".
std::string number_problem(std::string_view token);
/// A label that is a word: throws TextProblem when it holds control bytes, is not UTF-8, or spells
/// NaN or infinity; or when words are not allowed.
void check_word_label(const char* where, std::string_view word, bool words_allowed);
/// A number that is a label or weight: throws TextProblem unless finite.
void check_finite_number(const char* where, std::string_view token, double value);

}  // namespace tamis

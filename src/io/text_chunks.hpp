// What the text readers share: the text in chunks of whole lines, the rows parsed from each chunk,
// the first error in file order, and the chunks put together as one Dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "io/file_place.hpp"
#include "io/input_bytes.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

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

/// A text cut into chunks of about `chunk_bytes`, at line ends: a line longer than that is a chunk
/// of its own. A byte order mark is left out; text in UTF-16 throws DataError.
///
/// Ranks of a group share the text: each has the lines that begin in its part of the bytes, or of
/// the bytes of all files that are read together.
class ChunkedText {
 public:
  ChunkedText(std::string name, InputBytes input, std::int64_t chunk_bytes,
              const RunControl& control = {}, Group& group = alone(), FilePlace place = {});
  /// The first chunk of the text, whoever has it.
  ChunkedText first_chunk(std::int64_t chunk_bytes, const RunControl& control) const;

  Group& group() const { return *group_; }
  const std::string& name() const { return name_; }
  Index num_chunks() const { return static_cast<Index>(begin_.size()) - 1; }
  std::int64_t size() const { return begin_.back() - begin_.front(); }
  std::int64_t chunk_bytes(Index chunk) const {
    return begin_[usize(chunk) + 1] - begin_[usize(chunk)];
  }
  /// Valid as long as `buffer` is not used again. Safe from many threads.
  TextChunk load(Index chunk, PieceBuffer& buffer) const;
  /// Throws ParseError for the byte at `offset`.
  [[noreturn]] void fail_at(std::int64_t offset, const std::string& message) const;

 private:
  void cut(std::int64_t begin, std::int64_t end, std::int64_t chunk_bytes,
           const RunControl& control);
  std::int64_t after_line(std::int64_t offset, const RunControl& control) const;

  std::string name_;
  InputBytes input_;
  Group* group_;
  std::int64_t mark_bytes_ = 0;      // of the byte order mark; offsets count from its end
  std::vector<std::int64_t> begin_;  // of every chunk, and the end of the last
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
  Index entries_end = 0;    // within the chunk
  double label_number = 0;  // meaningless where the label is a word
  Index label_begin = -1;   // offset in the chunk; -1: the row has no label
};

/// What kinds of labels there are.
struct LabelCounts {
  Index numbers = 0;
  Index words = 0;
  std::int64_t first_word = -1;  // offset in the text, -1: none
  std::string word;              // the first one
  bool rounded = false;          // some whole number is another one as a double

  void add(const LabelCounts& later);
  /// A label at `offset` of the text, known to be acceptable.
  void add_number(std::string_view token, double value);
  void add_word(std::int64_t offset, std::string_view token);
};

/// The rows of one chunk. Zeros are not stored.
struct RowChunk {
  std::unique_ptr<Entry[]> entries;
  Index entry_count = 0;
  std::vector<ParsedRow> rows;
  std::vector<double> weights;
  Index cols = 0;             // one past the largest column, explicit zeros included
  std::int64_t left_out = 0;  // values beyond ReadOptions::max_features
  std::vector<std::vector<std::string>> words;  // of each text column, by their numbers from 1
  LabelCounts labels;
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
  /// At most so many entries come out of the chunk.
  virtual Index most_entries(const TextChunk& chunk) const = 0;
  /// `out.entries` has room for these and two more.
  virtual void parse(const TextChunk& chunk, RowChunk& out) const = 0;
  /// The label that begins at `text`, as it is written. Throws TextProblem.
  virtual std::string label_at(const char* text) const = 0;
};

/// How many of the separators are in the chunk, counted where it is long; else as many as its bytes
/// may hold when each comes with `least_bytes`.
Index most_separators(const TextChunk& chunk, std::string_view separators, Index least_bytes);

/// Ends the parsing of a line, however long, soon after the caller asked to stop.
class LinePoll {
 public:
  LinePoll(const char* begin, const RunControl& control) : last_(begin), control_(control) {}
  /// Throws Cancelled.
  void at(const char* p) {
    if (p - last_ < kTextChunkBytes) [[likely]]
      return;
    if (control_.cancelled()) throw Cancelled();
    last_ = p;
  }

 private:
  const char* last_;
  const RunControl& control_;
};

/// The smallest offset of all ranks, of which -1 is none.
std::int64_t first_of_all(Group& group, std::int64_t mine);

/// Parses all chunks in parallel. Throws the ParseError that comes first in the text whatever the
/// number of threads and ranks (other ranks throw GroupFailure), DataError when there are no rows,
/// ResourceError beyond `budget_bytes`.
std::vector<RowChunk> parse_chunks(const ChunkedText& text, const ChunkParser& parser,
                                   std::int64_t budget_bytes, const RunControl& control);

/// Dense when that takes at most 1.5 times the memory of CSR, or a quarter of the values are not
/// zero: dense rows compute faster, and half of CSR's memory goes into column numbers.
bool store_dense(Index rows, Index cols, Index nonzeros);

/// Consumes the entries of the chunks. `what` names the work in a ResourceError. Dense or sparse by
/// the rows of all ranks.
Matrix assemble_matrix(std::vector<RowChunk>& chunks, Index cols, std::int64_t budget_bytes,
                       const std::string& what, Group& group = alone());
/// Of all ranks.
LabelCounts count_labels(const std::vector<RowChunk>& chunks, Group& group = alone());
/// Numbers, words, or whole numbers too long for a double, which are kept as text; none if no row
/// has a label. Throws ParseError for a word where most labels are numbers.
Labels assemble_labels(const ChunkedText& text, const std::vector<RowChunk>& chunks,
                       const ChunkParser& parser, const ReadOptions& options);
std::vector<double> assemble_weights(const std::vector<RowChunk>& chunks);

/// The text in quotes for a message: bytes that are not printable escaped, long text cut.
std::string quote_text(std::string_view text);
/// Why `token`, read as a number and refused, is not acceptable: "'nan' is not finite", "'1e99' is
/// too large", "'abc' is not a number".
std::string number_problem(std::string_view token);
/// Throws TextProblem when the text, which `what` names, holds control bytes or is not UTF-8.
void check_text(const char* where, std::string_view text, std::string_view what);
/// "nan" in any case, with or without sign.
bool spells_nan(std::string_view token);
/// A label that is a word: throws TextProblem when it holds control bytes, is not UTF-8, or spells
/// NaN or infinity; or when words are not allowed.
void check_word_label(const char* where, std::string_view word, bool words_allowed);
/// One text for every number that a label may be: whole numbers with all their digits, others as
/// the shortest text of a double.
std::string number_label(std::string_view token);
/// A number that is a label or weight: throws TextProblem unless finite.
void check_finite_number(const char* where, std::string_view token, double value);

}  // namespace tamis

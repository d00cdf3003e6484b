#include "io/text_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t kLongBytes = 4 * kTextChunkBytes;

std::int64_t used_bytes(const RowChunk& chunk) {
  return chunk.entry_count * Index{sizeof(Entry)} +
         std::ssize(chunk.rows) * Index{sizeof(ParsedRow)} +
         std::ssize(chunk.weights) * Index{sizeof(double)};
}

// Remembers the problem nearest to the beginning of the text.
struct FirstProblem {
  std::int64_t offset = -1;
  std::string message;

  void note(std::int64_t at, std::string text) {
    if (offset >= 0 && offset <= at) return;
    offset = at;
    message = std::move(text);
  }
};

// Either every row has a label or none: the first row decides. Rows behind a problem may not have
// been parsed, but then that problem comes first anyway.
void note_mixed_labels(const std::vector<RowChunk>& chunks, Group& group, FirstProblem& first) {
  std::int64_t labelled = -1;
  std::int64_t unlabelled = -1;
  for (const RowChunk& chunk : chunks) {
    if (labelled < 0) labelled = chunk.first_labelled;
    if (unlabelled < 0) unlabelled = chunk.first_unlabelled;
  }
  labelled = first_of_all(group, labelled);
  unlabelled = first_of_all(group, unlabelled);
  if (labelled < 0 || unlabelled < 0) return;
  if (labelled < unlabelled)
    first.note(unlabelled, "the label is missing: earlier rows have one");
  else
    first.note(labelled, "a label, but earlier rows have none");
}

}  // namespace

std::int64_t first_of_all(Group& group, std::int64_t mine) {
  std::int64_t first = -1;
  for (const std::int64_t offset : gather_values(group, mine)) {
    if (offset >= 0 && (first < 0 || offset < first)) first = offset;
  }
  return first;
}

ChunkedText::ChunkedText(std::string name, InputBytes input, std::int64_t chunk_bytes,
                         const RunControl& control, Group& group, FilePlace place)
    : name_(std::move(name)), input_(std::move(input)), group_(&group) {
  PieceBuffer buffer;
  const std::string_view head = input_.piece(0, 3, buffer);
  if (head.starts_with("\xff\xfe"sv) || head.starts_with("\xfe\xff"sv))
    throw DataError(name_ + ": the text is UTF-16; convert it to UTF-8");
  if (head == "\xef\xbb\xbf"sv) mark_bytes_ = 3;
  const std::int64_t end = input_.size() - mark_bytes_;
  // A line belongs to the rank in whose bytes it begins.
  const auto first_line_from = [&](std::int64_t offset) {
    return offset == 0 || offset >= end ? offset : after_line(offset - 1, control);
  };
  // The last one has it to its end, whatever the size was when the files were counted.
  const auto share = [&](int rank) {
    return rank == group.size() ? end : share_begin(place, end, rank, group.size());
  };
  cut(first_line_from(share(group.rank())), first_line_from(share(group.rank() + 1)), chunk_bytes,
      control);
}

void ChunkedText::cut(std::int64_t begin, std::int64_t end, std::int64_t chunk_bytes,
                      const RunControl& control) {
  begin_.assign(1, begin);
  while (begin_.back() < end) {
    const std::int64_t step = std::min(chunk_bytes, end - begin_.back());
    begin_.push_back(after_line(begin_.back() + step - 1, control));
  }
}

ChunkedText ChunkedText::first_chunk(std::int64_t chunk_bytes, const RunControl& control) const {
  ChunkedText head = *this;
  head.group_ = &alone();
  head.cut(0, std::min(chunk_bytes, input_.size() - mark_bytes_), chunk_bytes, control);
  return head;
}

// The beginning of the first line behind `offset`, or the end.
std::int64_t ChunkedText::after_line(std::int64_t offset, const RunControl& control) const {
  PieceBuffer buffer;
  std::int64_t step = 4096;  // a line is seldom longer
  for (;; step = std::min(4 * step, kTextChunkBytes)) {
    if (control.cancelled()) throw Cancelled();
    const std::string_view piece = input_.piece(mark_bytes_ + offset, step, buffer);
    if (piece.empty()) return offset;
    const std::size_t found = piece.find('\n');
    if (found != std::string_view::npos) return offset + static_cast<std::int64_t>(found) + 1;
    offset += static_cast<std::int64_t>(piece.size());
  }
}

TextChunk ChunkedText::load(Index chunk, PieceBuffer& buffer) const {
  const std::int64_t offset = begin_[usize(chunk)];
  const std::int64_t count = chunk_bytes(chunk);
  std::string_view text = input_.bytes;
  if (!input_.file) text = text.substr(usize(mark_bytes_ + offset), usize(count));
  if (text.ends_with('\n')) return {text.data(), text.data() + text.size(), offset};
  // A file may have changed since it was cut into chunks; the last line may have no end.
  char* const copy = buffer.room(count + 1);
  if (input_.file)
    input_.file->read(mark_bytes_ + offset, {copy, usize(count)});
  else
    std::copy(text.begin(), text.end(), copy);
  const bool ended = copy[count - 1] == '\n';
  if (!ended) copy[count] = '\n';
  return {copy, copy + count + (ended ? 0 : 1), offset};
}

void ChunkedText::fail_at(std::int64_t offset, const std::string& message) const {
  PieceBuffer buffer;
  std::int64_t line = 1;
  std::int64_t line_begin = 0;
  for (std::int64_t at = 0; at < offset;) {
    const std::string_view piece =
        input_.piece(mark_bytes_ + at, std::min(kTextChunkBytes, offset - at), buffer);
    line += std::count(piece.begin(), piece.end(), '\n');
    const std::size_t last = piece.rfind('\n');
    if (last != std::string_view::npos) line_begin = at + static_cast<std::int64_t>(last) + 1;
    at += static_cast<std::int64_t>(piece.size());
  }
  throw ParseError(name_, line, offset - line_begin + 1, message);
}

void LabelCounts::add(const LabelCounts& later) {
  numbers += later.numbers;
  words += later.words;
  if (first_word < 0) {
    first_word = later.first_word;
    word = later.word;
  }
  rounded = rounded || later.rounded;
}

Index most_separators(const TextChunk& chunk, std::string_view separators, Index least_bytes) {
  const std::int64_t bytes = chunk.end - chunk.begin;
  if (bytes <= kLongBytes) return bytes / least_bytes;
  Index found = 0;
  for (const char separator : separators) found += std::count(chunk.begin, chunk.end, separator);
  return found;
}

std::vector<RowChunk> parse_chunks(const ChunkedText& text, const ChunkParser& parser,
                                   std::int64_t budget_bytes, const RunControl& control) {
  const Index count = text.num_chunks();
  std::vector<RowChunk> parsed(static_cast<std::size_t>(count));
  std::vector<FirstProblem> problems(parsed.size());
  std::atomic<Index> failed{count};  // no need to parse behind it
  std::atomic<std::int64_t> used{0};
  ProgressMeter meter(control, "read", text.size());
  const auto require = [&](std::int64_t bytes) {
    require_memory("reading " + text.name(), bytes, budget_bytes);
  };
  parallel_each(count, [&](Index c) {
    if (c > failed.load(std::memory_order_relaxed)) return;
    const auto i = static_cast<std::size_t>(c);
    // A line of any length is asked for before it is read, and its values before they are parsed.
    const bool is_long = text.chunk_bytes(c) > kLongBytes;
    if (is_long) require(used.load() + text.chunk_bytes(c));
    PieceBuffer buffer;
    const TextChunk chunk = text.load(c, buffer);
    const Index room = parser.most_entries(chunk);
    if (is_long) require(used.load() + text.chunk_bytes(c) + room * Index{sizeof(Entry)});
    parsed[i].entries = std::make_unique_for_overwrite<Entry[]>(usize(room + 2));
    try {
      parser.parse(chunk, parsed[i]);
    } catch (const TextProblem& problem) {
      problems[i].note(chunk.offset + (problem.where - chunk.begin), problem.message);
      Index seen = failed.load();
      while (c < seen && !failed.compare_exchange_weak(seen, c)) {
      }
    }
    const std::int64_t bytes = used_bytes(parsed[i]);
    require(used += bytes);
    meter.add(text.chunk_bytes(c));
  });
  FirstProblem first;
  if (failed < count) {
    const auto i = static_cast<std::size_t>(failed.load());
    first.note(problems[i].offset, problems[i].message);
  }
  note_mixed_labels(parsed, text.group(), first);
  const std::int64_t first_of_text = first_of_all(text.group(), first.offset);
  if (first_of_text >= 0 && first_of_text != first.offset)
    throw GroupFailure(text.name() + ": another rank has found an error");
  if (first.offset >= 0) text.fail_at(first.offset, first.message);
  const auto has_rows = [](const RowChunk& chunk) { return !chunk.rows.empty(); };
  if (!any_of_all(text.group(), std::any_of(parsed.begin(), parsed.end(), has_rows))) {
    throw DataError(text.name() + (sum_of_all(text.group(), count) == 0
                                       ? ": no rows: the file is empty"
                                       : ": no rows: only comments, blank lines or a header"));
  }
  return parsed;
}

std::string quote_text(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f')
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace tamis

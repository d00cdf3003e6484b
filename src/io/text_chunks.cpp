#include "io/text_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/check.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using namespace std::string_view_literals;

const char* after_line(const char* p, const char* end) {
  const void* found = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return found == nullptr ? end : static_cast<const char*>(found) + 1;
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
void note_mixed_labels(const std::vector<RowChunk>& chunks, FirstProblem& first) {
  std::int64_t labelled = -1;
  std::int64_t unlabelled = -1;
  for (const RowChunk& chunk : chunks) {
    if (labelled < 0) labelled = chunk.first_labelled;
    if (unlabelled < 0) unlabelled = chunk.first_unlabelled;
  }
  if (labelled < 0 || unlabelled < 0) return;
  if (labelled < unlabelled)
    first.note(unlabelled, "the label is missing: earlier rows have one");
  else
    first.note(labelled, "a label, but earlier rows have none");
}

}  // namespace

ChunkedText::ChunkedText(std::string name, std::string_view text, std::int64_t chunk_bytes)
    : name_(std::move(name)), text_(text) {
  if (text_.starts_with("\xff\xfe"sv) || text_.starts_with("\xfe\xff"sv))
    throw DataError(name_ + ": the text is UTF-16; convert it to UTF-8");
  if (text_.starts_with("\xef\xbb\xbf"sv)) text_.remove_prefix(3);
  const std::size_t whole_lines = text_.rfind('\n') + 1;  // npos + 1 = 0
  const char* p = text_.data();
  const char* const end = p + whole_lines;
  while (p != end) {
    const std::int64_t step = std::min<std::int64_t>(chunk_bytes, end - p);
    const char* const next = after_line(p + step - 1, end);
    chunks_.push_back({p, next, p - text_.data()});
    p = next;
  }
  if (whole_lines == text_.size()) return;
  last_line_ = text_.substr(whole_lines);
  last_line_ += '\n';
  chunks_.push_back({last_line_.data(), last_line_.data() + last_line_.size(),
                     static_cast<std::int64_t>(whole_lines)});
}

void ChunkedText::fail_at(std::int64_t offset, const std::string& message) const {
  const std::string_view before = text_.substr(0, static_cast<std::size_t>(offset));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;
  throw ParseError(name_, line, static_cast<std::int64_t>(before.size() - line_begin) + 1, message);
}

std::vector<RowChunk> parse_chunks(const ChunkedText& text, const ChunkParser& parser,
                                   std::int64_t budget_bytes, const RunControl& control) {
  const auto count = static_cast<Index>(text.chunks().size());
  std::vector<RowChunk> parsed(static_cast<std::size_t>(count));
  std::vector<std::optional<TextProblem>> problems(parsed.size());
  std::atomic<Index> failed{count};  // no need to parse behind it
  std::atomic<std::int64_t> used_bytes{0};
  const TextChunk last = text.chunks().empty() ? TextChunk{} : text.chunks().back();
  ProgressMeter meter(control, "read", last.offset + (last.end - last.begin));
  parallel_each(count, [&](Index c) {
    if (c > failed.load(std::memory_order_relaxed)) return;
    const auto i = static_cast<std::size_t>(c);
    const TextChunk& chunk = text.chunks()[i];
    try {
      parser.parse(chunk, parsed[i]);
    } catch (TextProblem& problem) {
      problems[i] = std::move(problem);
      Index seen = failed.load();
      while (c < seen && !failed.compare_exchange_weak(seen, c)) {
      }
    }
    const std::int64_t used = used_bytes += parsed[i].entry_count * Index{sizeof(Entry)};
    require_memory("reading " + text.name(), used, budget_bytes);
    meter.add(chunk.end - chunk.begin);
  });
  FirstProblem first;
  if (failed < count) {
    const auto i = static_cast<std::size_t>(failed.load());
    first.note(text.chunks()[i].offset + (problems[i]->where - text.chunks()[i].begin),
               problems[i]->message);
  }
  note_mixed_labels(parsed, first);
  if (first.offset >= 0) text.fail_at(first.offset, first.message);
  const auto has_rows = [](const RowChunk& chunk) { return !chunk.rows.empty(); };
  if (std::none_of(parsed.begin(), parsed.end(), has_rows)) {
    throw DataError(text.name() + (count == 0
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

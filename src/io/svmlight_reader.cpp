// The svmlight / LIBSVM text format, in one pass over the text.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/memory.hpp"
#include "io/data_formats.hpp"
#include "io/number_parser.hpp"
#include "io/text_chunks.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kLargestIndex = 2147483646;  // 2^31 - 2: one more column still fits int32

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_token(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#'; }
bool ends_row(char c) { return c == '\n' || c == '#'; }

std::string_view token_at(const char* text) {
  const char* end = text;
  while (!ends_token(*end)) ++end;
  return {text, static_cast<std::size_t>(end - text)};
}

[[noreturn]] void fail_value(const char* where) {
  const std::string_view token = token_at(where);
  if (token.empty()) throw TextProblem{where, "the value after ':' is missing"};
  throw TextProblem{where, number_problem(token)};
}

// `where` begins something that is not `digits:`.
[[noreturn]] void fail_pair(const char* where, int index_base) {
  const std::string_view token = token_at(where);
  const std::size_t colon = token.find(':');
  if (colon == std::string_view::npos) {
    throw TextProblem{
        where, fmt::format("{} has no colon: features are written index:value", quote_text(token))};
  }
  const std::string_view index = token.substr(0, colon);
  const bool negative = index.size() > 1 && index[0] == '-' &&
                        index.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (negative) {
    throw TextProblem{where,
                      fmt::format("index {} is negative: indices start at {}", index, index_base)};
  }
  throw TextProblem{where, fmt::format("the index {} is not a whole number", quote_text(index))};
}

[[noreturn]] void fail_index(const char* where, const char* colon, std::int64_t index,
                             std::int64_t last, int index_base) {
  const std::string_view text(where, static_cast<std::size_t>(colon - where));
  if (text.size() > 18 || index > kLargestIndex) {
    throw TextProblem{
        where, fmt::format("index {} is above the largest allowed, {}", text, kLargestIndex)};
  }
  if (index < index_base) {
    throw TextProblem{where,
                      "index 0, but indices start at 1 (index-base 0 reads data that starts at "
                      "0)"};
  }
  if (index == last) throw TextProblem{where, fmt::format("index {} twice in one row", index)};
  throw TextProblem{
      where, fmt::format("index {} after {}: indices must ascend within a row", index, last)};
}

// Reads rows of one chunk into room that is known to suffice, so nothing needs to grow.
class RowParser {
 public:
  RowParser(const TextChunk& chunk, const ReadOptions& options, const RunControl& control,
            RowChunk& out)
      : chunk_(chunk),
        options_(options),
        poll_(chunk.begin, control),
        allows_missing_(allows_missing(options)),
        most_cols_(options.max_features > 0 ? options.max_features : kLargestIndex + 1),
        out_(out),
        next_(out.entries.get()) {}

  void parse() {
    for (const char* p = chunk_.begin; p != chunk_.end;) p = parse_line(p);
    out_.entry_count = next_ - out_.entries.get();
  }

 private:
  // Returns the beginning of the next line.
  const char* parse_line(const char* p) {
    while (is_blank(*p)) ++p;
    if (!ends_row(*p)) {
      ParsedRow row;
      p = parse_label(p, row);
      p = parse_pairs(p);
      row.entries_end = next_ - out_.entries.get();
      out_.rows.push_back(row);
    }
    return static_cast<const char*>(
               std::memchr(p, '\n', static_cast<std::size_t>(chunk_.end - p))) +
           1;
  }

  std::int64_t offset_of(const char* p) const { return chunk_.offset + (p - chunk_.begin); }

  // A first token with a colon is a feature or a qid: the row has no label.
  const char* parse_label(const char* p, ParsedRow& row) {
    const ParsedNumber number = parse_number(p);
    std::string_view token;
    if (number.end != nullptr && ends_token(*number.end)) {
      token = {p, static_cast<std::size_t>(number.end - p)};
      check_finite_number(p, token, number.value);
      row.label_number = number.value;
      out_.labels.add_number(token, number.value);
    } else {
      token = token_at(p);
      if (token.find(':') != std::string_view::npos) {
        if (out_.first_unlabelled < 0) out_.first_unlabelled = offset_of(p);
        return p;
      }
      check_word_label(p, token, options_.text_labels);
      out_.labels.add_word(offset_of(p), token);
    }
    if (out_.first_labelled < 0) out_.first_labelled = offset_of(p);
    row.label_begin = p - chunk_.begin;
    return token.data() + token.size();
  }

  // The hot loop. Zeros are written too, but the next entry goes over them.
  const char* parse_pairs(const char* p) {
    const int base = options_.index_base;
    std::int64_t last = base - 1;
    Entry* next = next_;
    for (;;) {
      while (is_blank(*p)) ++p;
      const char* const pair = p;
      std::uint64_t index = 0;
      for (unsigned d = detail::digit_of(*p); d <= 9; d = detail::digit_of(*++p))
        index = index * 10 + d;
      if (p == pair || *p != ':') [[unlikely]] {
        if (ends_row(*pair)) break;
        p = skip_query(pair);
        continue;
      }
      const auto signed_index = static_cast<std::int64_t>(index);
      if (signed_index <= last || signed_index > kLargestIndex || p - pair > 18) [[unlikely]]
        fail_index(pair, p, signed_index, last, base);
      last = signed_index;
      ParsedNumber number = parse_number(++p);
      if (number.end == nullptr && allows_missing_) [[unlikely]]
        number = parse_missing(p);
      const auto value = static_cast<float>(number.value);
      if (number.end == nullptr || !ends_token(*number.end) || std::isinf(value)) [[unlikely]]
        fail_value(p);
      p = number.end;
      poll_.at(p);
      *next = {static_cast<std::int32_t>(signed_index - base), value};
      next += value != 0.0F ? 1 : 0;
    }
    std::int64_t cols = last - base + 1;
    if (cols > most_cols_) [[unlikely]] {
      for (cols = most_cols_; next > next_ && next[-1].column >= most_cols_; --next)
        ++out_.left_out;
    }
    next_ = next;
    if (cols > out_.cols) out_.cols = cols;
    return p;
  }

  static ParsedNumber parse_missing(const char* p) {
    const std::string_view token = token_at(p);
    if (!spells_nan(token)) return {};
    return {std::numeric_limits<double>::quiet_NaN(), p + token.size()};
  }

  // qid:n says which query a row of a ranking problem belongs to; it is no feature.
  const char* skip_query(const char* p) const {
    const std::string_view token = token_at(p);
    if (!token.starts_with("qid:")) fail_pair(p, options_.index_base);
    const std::string_view number = token.substr(4);
    if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos)
      throw TextProblem{p, fmt::format("{} is not a query number", quote_text(token))};
    return p + token.size();
  }

  const TextChunk& chunk_;
  const ReadOptions& options_;
  LinePoll poll_;
  bool allows_missing_;
  std::int64_t most_cols_;
  RowChunk& out_;
  Entry* next_;
};

class SvmlightParser : public ChunkParser {
 public:
  SvmlightParser(const ReadOptions& options, const RunControl& control)
      : options_(options), control_(control) {}

  // An entry takes at least four bytes of text, " 1:2", or three at the beginning of a line; the
  // loop writes at most one past the last. Pages never written cost nothing.
  Index most_entries(const TextChunk& chunk) const override {
    return most_separators(chunk, ":", 4);
  }
  void parse(const TextChunk& chunk, RowChunk& out) const override {
    RowParser(chunk, options_, control_, out).parse();
  }
  std::string label_at(const char* text) const override { return std::string(token_at(text)); }

 private:
  const ReadOptions& options_;
  const RunControl& control_;
};

// Rows without a single feature are more likely another format than a data set of zeros.
void require_features(const std::string& name, Index cols, const LabelCounts& labels,
                      const ReadOptions& options) {
  if (cols > 0 || (options.min_features > 0 && labels.words == 0)) return;
  throw DataError(name +
                  ": no row has a feature (index:value); is this svmlight text? format csv reads "
                  "comma-separated values");
}

}  // namespace

Dataset parse_svmlight(const ParseInput& source, const ReadOptions& options,
                       const RunControl& control, std::int64_t chunk_bytes) {
  if (options.index_base != 0 && options.index_base != 1)
    throw InvalidArgument(fmt::format("index_base is {}: give 0 or 1", options.index_base));
  const std::int64_t budget = resolve_memory_budget(control.memory_bytes) - source.input.heap_bytes;
  Group& group = group_of(control);
  const ChunkedText text(source.name, source.input, chunk_bytes, control, group, source.place);
  const SvmlightParser parser(options, control);
  std::vector<RowChunk> chunks = parse_chunks(text, parser, budget, control);
  Index cols = 0;
  std::int64_t left_out = 0;
  for (const RowChunk& chunk : chunks) {
    cols = std::max(cols, chunk.cols);
    left_out += chunk.left_out;
  }
  cols = largest_of_all(group, cols);
  left_out = sum_of_all(group, left_out);
  if (left_out > 0 && control.on_remark) {
    control.on_remark(
        fmt::format("{}: columns above {} ignored: no training row had them (values in them: {})",
                    source.name, options.max_features, left_out));
  }
  require_features(source.name, cols, count_labels(chunks, group), options);
  Labels labels = assemble_labels(text, chunks, parser, options);
  cols = std::max(cols, options.min_features);
  return Dataset(assemble_matrix(chunks, cols, budget, "reading " + source.name, group),
                 std::move(labels));
}

}  // namespace tamis

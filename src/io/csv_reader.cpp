// Comma-, semicolon- or tab-separated text, in one pass over the text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "io/csv_fields.hpp"
#include "io/data_formats.hpp"
#include "io/number_parser.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Also for numbers in quotes.
ParsedNumber parse_field_number(const CsvField& field) {
  if (!field.quoted) {
    const ParsedNumber number = parse_number(field.content.data());
    return number.end == field.content.data() + field.content.size() ? number : ParsedNumber{};
  }
  const std::string copy = std::string(field.content) + '\n';
  ParsedNumber number = parse_number(copy.c_str());
  const bool whole = number.end == copy.c_str() + field.content.size();
  number.end = whole ? field.content.data() + field.content.size() : nullptr;
  return number;
}

// The words of the text columns of one chunk, numbered from 1 as they come.
class WordNumbers {
 public:
  explicit WordNumbers(Index columns) : numbers_(usize(columns)), words_(numbers_.size()) {}

  /// 0: there are too many.
  Index number_of(Index column, std::string word) {
    auto& known = numbers_[usize(column)];
    auto& words = words_[usize(column)];
    const auto [entry, is_new] = known.emplace(std::move(word), std::ssize(words) + 1);
    if (!is_new) return entry->second;
    if (std::ssize(words) == ColumnMap::kMostCategories) return 0;
    words.push_back(entry->first);
    return entry->second;
  }
  std::vector<std::vector<std::string>> take_words() && { return std::move(words_); }

 private:
  std::vector<std::unordered_map<std::string, Index>> numbers_;
  std::vector<std::vector<std::string>> words_;
};

class CsvParser : public ChunkParser {
 public:
  CsvParser(const CsvLayout& layout, const ReadOptions& options, const RunControl& control)
      : layout_(layout),
        options_(options),
        control_(control),
        allows_missing_(allows_missing(options)) {}

  // A field takes at least two bytes, "1,", or one where it may be missing; the last of a row ends
  // with the line. The loop writes at most one past the last.
  Index most_entries(const TextChunk& chunk) const override {
    const Index least_bytes = allows_missing_ ? 1 : 2;
    return most_separators(chunk, std::string{layout_.delimiter, '\n'}, least_bytes);
  }
  void parse(const TextChunk& chunk, RowChunk& out) const override {
    Entry* next = out.entries.get();
    WordNumbers words(static_cast<Index>(layout_.kinds.size()));
    for (const char* p = chunk.begin; p != chunk.end;) {
      const std::int64_t offset = chunk.offset + (p - chunk.begin);
      const char* first = p;
      while (*first == ' ' || *first == '\t' || *first == '\r') ++first;
      if (*first == '\n' || offset == layout_.header_offset) {
        p = static_cast<const char*>(
                std::memchr(p, '\n', static_cast<std::size_t>(chunk.end - p))) +
            1;
        continue;
      }
      if (layout_.label >= 0 && out.first_labelled < 0) out.first_labelled = offset;
      ParsedRow row;
      p = parse_row(p, chunk, row, next, words, out);
      row.entries_end = next - out.entries.get();
      out.rows.push_back(row);
    }
    out.entry_count = next - out.entries.get();
    out.cols = layout_.features();
    out.words = std::move(words).take_words();
  }

  std::string label_at(const char* text) const override {
    return csv_field_text(scan_csv_field(text, layout_.delimiter));
  }

 private:
  // Returns the beginning of the next line.
  const char* parse_row(const char* line, const TextChunk& chunk, ParsedRow& row, Entry*& next,
                        WordNumbers& words, RowChunk& out) const {
    const char* p = line;
    LinePoll poll(line, control_);
    std::int32_t feature = 0;
    for (Index column = 0;; ++column) {
      if (column == layout_.label) {
        p = parse_label(p, chunk, row, out);
      } else if (column == layout_.weight) {
        p = parse_weight(p, out);
      } else {
        float value = 0;
        p = layout_.kind(column) == CsvKind::number ? parse_value(p, column, value)
                                                    : parse_text(p, column, words, value);
        *next = {feature++, value};
        next += value != 0.0F ? 1 : 0;
      }
      const bool last = column + 1 == layout_.columns;
      if (*p == '\n') {
        if (!last) fail_ragged(line);
        return p + 1;
      }
      if (last) fail_ragged(line);
      poll.at(p);
      ++p;  // the delimiter
    }
  }

  bool ends_field(char c) const { return c == layout_.delimiter || c == '\n'; }

  const char* parse_value(const char* p, Index column, float& value) const {
    const ParsedNumber quick = parse_number(p);
    value = static_cast<float>(quick.value);
    if (quick.end != nullptr && ends_field(*quick.end) && !std::isinf(value)) [[likely]]
      return quick.end;
    const CsvField field = scan_csv_field(p, layout_.delimiter);
    const ParsedNumber number = parse_field_number(field);
    value = static_cast<float>(number.value);
    if (number.end == nullptr && allows_missing_ && is_missing_field(field))
      value = std::numeric_limits<float>::quiet_NaN();
    else if (number.end == nullptr || std::isinf(value))
      fail_value(field, column);
    return field.next;
  }

  // The value is the number of the word.
  const char* parse_text(const char* p, Index column, WordNumbers& words, float& value) const {
    const CsvField field = scan_csv_field(p, layout_.delimiter);
    if (layout_.kind(column) == CsvKind::ignored) return field.next;
    if (allows_missing_ && is_missing_field(field)) {
      value = std::numeric_limits<float>::quiet_NaN();
      return field.next;
    }
    if (field.content.empty())
      throw TextProblem{field.content.data(), fmt::format("{} is empty", layout_.describe(column))};
    check_text(field.content.data(), field.content, layout_.describe(column));
    const Index number = words.number_of(column, csv_field_text(field));
    if (number == 0) fail_many_words(field.content.data(), column);
    value = static_cast<float>(number);
    return field.next;
  }

  [[noreturn]] void fail_many_words(const char* where, Index column) const {
    throw TextProblem{where, fmt::format("{} has more than {} different texts: leave it out",
                                         layout_.describe(column), ColumnMap::kMostCategories)};
  }

  const char* parse_label(const char* p, const TextChunk& chunk, ParsedRow& row,
                          RowChunk& out) const {
    const CsvField field = scan_csv_field(p, layout_.delimiter);
    if (field.content.empty()) {
      throw TextProblem{field.content.data(),
                        fmt::format("the label is missing ({})", layout_.describe(layout_.label))};
    }
    row.label_begin = p - chunk.begin;
    const ParsedNumber number = parse_field_number(field);
    if (number.end != nullptr) {
      check_finite_number(field.content.data(), field.content, number.value);
      row.label_number = number.value;
      out.labels.add_number(field.content, number.value);
    } else {
      check_word_label(field.content.data(), field.content, options_.text_labels);
      out.labels.add_word(chunk.offset + (field.content.data() - chunk.begin), field.content);
    }
    return field.next;
  }

  const char* parse_weight(const char* p, RowChunk& out) const {
    const CsvField field = scan_csv_field(p, layout_.delimiter);
    const ParsedNumber number = parse_field_number(field);
    if (number.end == nullptr) fail_value(field, layout_.weight);
    check_finite_number(field.content.data(), field.content, number.value);
    if (number.value < 0) {
      throw TextProblem{field.content.data(),
                        fmt::format("the weight {} is negative ({})", quote_text(field.content),
                                    layout_.describe(layout_.weight))};
    }
    out.weights.push_back(number.value);
    return field.next;
  }

  [[noreturn]] void fail_value(const CsvField& field, Index column) const {
    const char* const where = field.content.data();
    const std::string place = layout_.describe(column);
    if (field.content.empty()) {
      throw TextProblem{where, fmt::format("{} is empty: every feature needs a number", place)};
    }
    throw TextProblem{where, fmt::format("{} ({})", number_problem(field.content), place)};
  }

  [[noreturn]] void fail_ragged(const char* line) const {
    Index count = 1;
    const char* p = line;
    for (;; ++count) {
      p = scan_csv_field(p, layout_.delimiter).next;
      if (*p == '\n') break;
      ++p;
    }
    throw TextProblem{
        line, fmt::format("{} field(s), but the first line has {}", count, layout_.columns)};
  }

  const CsvLayout& layout_;
  const ReadOptions& options_;
  const RunControl& control_;
  bool allows_missing_;
};

// The words of each text column in all chunks, ascending, and the values renumbered: the same for
// any chunks. One list per feature; empty if there is no text.
std::vector<std::vector<std::string>> assemble_categories(const ChunkedText& text,
                                                          const CsvLayout& layout, Index cols,
                                                          std::vector<RowChunk>& chunks) {
  std::vector<std::vector<std::string>> categories;
  const auto is_text = [](CsvKind kind) { return kind == CsvKind::text; };
  if (std::none_of(layout.kinds.begin(), layout.kinds.end(), is_text)) return categories;
  categories.resize(usize(cols));
  std::vector<Index> column_of;  // of each feature
  for (Index c = 0; c < layout.columns; ++c) {
    if (c == layout.label || c == layout.weight) continue;
    if (layout.kind(c) == CsvKind::text) {
      std::set<std::string> all;
      for (const RowChunk& chunk : chunks)
        all.insert(chunk.words[usize(c)].begin(), chunk.words[usize(c)].end());
      if (std::ssize(all) > ColumnMap::kMostCategories)
        throw DataError(fmt::format("{}: {} has more than {} different texts: leave it out",
                                    text.name(), layout.describe(c), ColumnMap::kMostCategories));
      categories[column_of.size()].assign(all.begin(), all.end());
    }
    column_of.push_back(c);
  }
  parallel_each(static_cast<Index>(chunks.size()), [&](Index index) {
    RowChunk& chunk = chunks[usize(index)];
    std::vector<std::vector<float>> renumbered(categories.size());
    for (std::size_t f = 0; f < column_of.size(); ++f) {
      const auto& all = categories[f];
      for (const std::string& word : chunk.words[usize(column_of[f])])
        renumbered[f].push_back(
            static_cast<float>(std::lower_bound(all.begin(), all.end(), word) - all.begin() + 1));
    }
    for (Index k = 0; k < chunk.entry_count; ++k) {
      Entry& entry = chunk.entries[usize(k)];
      const auto& numbers = renumbered[usize(entry.column)];
      if (!numbers.empty() && !std::isnan(entry.value))
        entry.value = numbers[static_cast<std::size_t>(entry.value) - 1];
    }
    chunk.words.clear();
  });
  return categories;
}

}  // namespace

Dataset parse_csv(const ParseInput& source, const ReadOptions& options, const RunControl& control,
                  std::int64_t chunk_bytes) {
  const std::int64_t budget = resolve_memory_budget(control.memory_bytes) - source.input.heap_bytes;
  Group& group = group_of(control);
  const ChunkedText text(source.name, source.input, chunk_bytes, control, group, source.place);
  const ChunkedText head = group.size() == 1 ? text : text.first_chunk(chunk_bytes, control);
  CsvLayout layout = detect_csv_layout(head, options, budget, control);
  layout.kinds = find_column_kinds(head, layout, options, budget);
  const CsvParser parser(layout, options, control);
  std::vector<RowChunk> chunks = parse_chunks(text, parser, budget, control);
  Labels labels = assemble_labels(text, chunks, parser, options);
  // Where columns are found by name, one that is not there is an error, not a column of zeros.
  const bool by_name = !options.columns.names.empty() && !layout.names.empty();
  const Index cols =
      by_name ? layout.features() : std::max(layout.features(), options.min_features);
  std::vector<std::vector<std::string>> categories =
      assemble_categories(text, layout, cols, chunks);
  std::vector<std::string> names = layout.feature_names();
  while (!names.empty() && static_cast<Index>(names.size()) < cols)
    names.push_back(fmt::format("f{}", names.size() + 1));
  std::vector<double> weights = assemble_weights(chunks);
  Dataset data(assemble_matrix(chunks, cols, budget, "reading " + source.name, group),
               std::move(labels), std::move(weights), std::move(names));
  return categories.empty() ? data : data.with_categories(std::move(categories));
}

}  // namespace tamis

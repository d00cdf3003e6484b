// Comma-, semicolon- or tab-separated text, in one pass over the text.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/memory.hpp"
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

class CsvParser : public ChunkParser {
 public:
  CsvParser(const CsvLayout& layout, const ReadOptions& options, const RunControl& control)
      : layout_(layout), options_(options), control_(control) {}

  // A field takes at least two bytes, "1,", and the last of a row ends with the line; the loop
  // writes at most one past the last.
  Index most_entries(const TextChunk& chunk) const override {
    return most_separators(chunk, std::string{layout_.delimiter, '\n'}, 2);
  }
  void parse(const TextChunk& chunk, RowChunk& out) const override {
    Entry* next = out.entries.get();
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
      p = parse_row(p, chunk, row, next, out);
      row.entries_end = next - out.entries.get();
      out.rows.push_back(row);
    }
    out.entry_count = next - out.entries.get();
    out.cols = layout_.features();
  }

  std::string label_at(const char* text) const override {
    return csv_field_text(scan_csv_field(text, layout_.delimiter));
  }

 private:
  // Returns the beginning of the next line.
  const char* parse_row(const char* line, const TextChunk& chunk, ParsedRow& row, Entry*& next,
                        RowChunk& out) const {
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
        p = parse_value(p, column, value);
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
    if (number.end == nullptr || std::isinf(value)) fail_value(field, column);
    return field.next;
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
};

}  // namespace

Dataset parse_csv(const ParseInput& source, const ReadOptions& options, const RunControl& control,
                  std::int64_t chunk_bytes) {
  const std::int64_t budget = resolve_memory_budget(control.memory_bytes) - source.input.heap_bytes;
  Group& group = group_of(control);
  const ChunkedText text(source.name, source.input, chunk_bytes, control, group);
  const CsvLayout layout = detect_csv_layout(
      group.size() == 1 ? text : text.first_chunk(chunk_bytes, control), options, budget, control);
  const CsvParser parser(layout, options, control);
  std::vector<RowChunk> chunks = parse_chunks(text, parser, budget, control);
  Labels labels = assemble_labels(text, chunks, parser, options);
  const Index cols = std::max(layout.features(), options.min_features);
  std::vector<std::string> names = layout.feature_names();
  while (!names.empty() && static_cast<Index>(names.size()) < cols)
    names.push_back(fmt::format("f{}", names.size() + 1));
  std::vector<double> weights = assemble_weights(chunks);
  return Dataset(assemble_matrix(chunks, cols, budget, "reading " + source.name, group),
                 std::move(labels), std::move(weights), std::move(names));
}

}  // namespace tamis

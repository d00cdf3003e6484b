// Which columns of comma-separated text hold numbers, and which words.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/memory.hpp"
#include "io/csv_fields.hpp"
#include "io/number_parser.hpp"

namespace tamis {
namespace {

constexpr Index kRowsToLookAt = 1000;

struct Seen {
  Index words = 0;
  Index numbers = 0;
};

bool is_blank_line(const char* p) {
  while (*p == ' ' || *p == '\t' || *p == '\r') ++p;
  return *p == '\n';
}

// Counts what the fields of a line are. What is wrong with it, the parser will say.
void look_at(const char* line, const CsvLayout& layout, std::vector<Seen>* seen) {
  try {
    const char* p = line;
    for (Index column = 0; column < layout.columns; ++column, ++p) {
      const CsvField field = scan_csv_field(p, layout.delimiter);
      Seen& here = (*seen)[usize(column)];
      if (is_number_field(field))
        ++here.numbers;
      else if (!is_missing_field(field))
        ++here.words;
      p = field.next;
      if (*p == '\n') return;
    }
  } catch (const TextProblem&) {
  }
}

std::vector<Seen> look_at_rows(const ChunkedText& text, const CsvLayout& layout,
                               std::int64_t budget_bytes) {
  std::vector<Seen> seen(usize(layout.columns));
  PieceBuffer buffer;
  Index rows = 0;
  for (Index c = 0; c < text.num_chunks() && rows < kRowsToLookAt; ++c) {
    require_memory("reading " + text.name(), text.chunk_bytes(c), budget_bytes);
    const TextChunk chunk = text.load(c, buffer);
    for (const char* line = chunk.begin; line != chunk.end && rows < kRowsToLookAt;) {
      const bool is_header = chunk.offset + (line - chunk.begin) == layout.header_offset;
      if (!is_header && !is_blank_line(line)) {
        look_at(line, layout, &seen);
        ++rows;
      }
      const auto left = static_cast<std::size_t>(chunk.end - line);
      line = static_cast<const char*>(std::memchr(line, '\n', left)) + 1;
    }
  }
  return seen;
}

// As the model has them, by name where both have names.
std::vector<CsvKind> kinds_of_model(const CsvLayout& layout, const ColumnMap& columns) {
  std::vector<CsvKind> kinds(usize(layout.columns), CsvKind::number);
  const bool by_name = !columns.names.empty() && !layout.names.empty();
  std::unordered_map<std::string_view, Index> input_of;
  for (std::size_t j = 0; j < columns.names.size() && by_name; ++j)
    input_of.emplace(columns.names[j], static_cast<Index>(j));
  Index feature = 0;
  for (Index c = 0; c < layout.columns; ++c) {
    if (c == layout.label || c == layout.weight) continue;
    Index input = feature++;
    if (by_name) {
      const auto found = input_of.find(layout.names[usize(c)]);
      input = found == input_of.end() ? -1 : found->second;
    }
    const bool is_text =
        std::any_of(columns.texts.begin(), columns.texts.end(),
                    [&](const ColumnMap::Text& text) { return text.column == input; });
    if (is_text) kinds[usize(c)] = CsvKind::text;
    if (input < 0) kinds[usize(c)] = CsvKind::ignored;
  }
  return kinds;
}

}  // namespace

bool is_number_field(const CsvField& field) {
  const std::string ended = std::string(field.content) + '\n';
  return parse_number(ended.c_str()).end == ended.c_str() + field.content.size();
}

bool is_missing_field(const CsvField& field) {
  return field.content.empty() || spells_nan(field.content) || field.content == "NA" ||
         field.content == "?";
}

std::vector<CsvKind> find_column_kinds(const ChunkedText& text, const CsvLayout& layout,
                                       const ReadOptions& options, std::int64_t budget_bytes) {
  const bool has_model = options.columns.inputs > 0;
  if (layout.columns == 0 || (!has_model && !options.text_columns)) return {};
  require_column_memory("reading " + text.name(), layout.columns,
                        Index{sizeof(Seen)} + Index{sizeof(CsvKind)}, budget_bytes);
  std::vector<CsvKind> kinds;
  if (has_model) {
    kinds = kinds_of_model(layout, options.columns);
  } else {
    for (const Seen& seen : look_at_rows(text, layout, budget_bytes)) {
      const bool is_text = seen.words > 0 && seen.words >= seen.numbers;
      kinds.push_back(is_text ? CsvKind::text : CsvKind::number);
    }
  }
  if (layout.label >= 0) kinds[usize(layout.label)] = CsvKind::number;
  if (layout.weight >= 0) kinds[usize(layout.weight)] = CsvKind::number;
  const bool all_numbers =
      std::all_of(kinds.begin(), kinds.end(), [](CsvKind kind) { return kind == CsvKind::number; });
  if (all_numbers) kinds.clear();
  return kinds;
}

}  // namespace tamis

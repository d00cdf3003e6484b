#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "io/csv_fields.hpp"
#include "io/number_parser.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The first line that is not blank, '\n' included; empty if there is none.
std::string_view first_line(const ChunkedText& text, std::int64_t& offset) {
  for (const TextChunk& chunk : text.chunks()) {
    for (const char* line = chunk.begin; line != chunk.end;) {
      const char* p = line;
      while (is_blank(*p)) ++p;
      const auto* end =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(chunk.end - p)));
      offset = chunk.offset + (line - chunk.begin);
      if (p != end) return {line, static_cast<std::size_t>(end - line) + 1};
      line = end + 1;
    }
  }
  return {};
}

// The most frequent candidate outside quotes; the comma if there is none.
char guess_delimiter(std::string_view line) {
  constexpr std::string_view kCandidates = ",;\t";
  std::int64_t counts[kCandidates.size()] = {};
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '"') in_quotes = !in_quotes;
    const std::size_t which = in_quotes ? std::string_view::npos : kCandidates.find(c);
    if (which != std::string_view::npos) ++counts[which];
  }
  return kCandidates[static_cast<std::size_t>(std::max_element(counts, std::end(counts)) - counts)];
}

// A field of the first line that can only be a column's name. Missing and infinite values are not:
// the row is then reported, not taken for a header.
bool is_name(const std::string& field) {
  if (field.empty()) return false;
  const std::string ended = field + '\n';
  const ParsedNumber number = parse_number(ended.c_str());
  if (number.end == ended.c_str() + field.size()) return false;
  return number_problem(field).find("is not a number") != std::string::npos;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// -1: no column is called that.
Index find_name(const std::vector<std::string>& fields, const std::string& name) {
  const auto found = std::find(fields.begin(), fields.end(), name);
  return found == fields.end() ? -1 : found - fields.begin();
}

// A column by number from 1, or else by name; `by_name` is set if it was found by name.
Index find_column(const std::string& file, const std::vector<std::string>& fields,
                  const std::string& wanted, const char* what, bool& by_name) {
  std::int64_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const auto parsed = std::from_chars(wanted.data(), end, number);
  const bool numeric = parsed.ec == std::errc() && parsed.ptr == end;
  if (numeric && number >= 1 && number <= static_cast<Index>(fields.size())) return number - 1;
  const Index named = find_name(fields, wanted);
  if (named >= 0) {
    by_name = true;
    return named;
  }
  if (numeric) {
    throw DataError(fmt::format("{}: no {} column {}: the columns are 1 to {}", file, what, wanted,
                                fields.size()));
  }
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(fields.size(), 8); ++i)
    known += (i == 0 ? "" : ", ") + quote_text(fields[i]);
  throw DataError(fmt::format("{}: no column is called {}; the first line has {}{}", file,
                              quote_text(wanted), known, fields.size() > 8 ? ", ..." : ""));
}

Index default_label(const std::vector<std::string>& fields, bool& by_name) {
  std::vector<std::string> lower;
  lower.reserve(fields.size());
  for (const std::string& field : fields) lower.push_back(lower_case(field));
  for (const char* name : {"label", "class", "target", "y"}) {
    const Index found = find_name(lower, name);
    if (found < 0) continue;
    by_name = true;
    return found;
  }
  return static_cast<Index>(fields.size()) - 1;
}

std::vector<std::string> split_line(const ChunkedText& text, std::string_view line,
                                    std::int64_t offset, char delimiter) {
  std::vector<std::string> fields;
  try {
    for (const char* p = line.data();; ++p) {
      const CsvField field = scan_csv_field(p, delimiter);
      fields.push_back(csv_field_text(field));
      p = field.next;
      if (*p == '\n') return fields;
    }
  } catch (const TextProblem& problem) {
    text.fail_at(offset + (problem.where - line.data()), problem.message);
  }
}

}  // namespace

CsvField scan_csv_field(const char* p, char delimiter) {
  const auto skippable = [&](char c) { return is_blank(c) && c != delimiter; };
  while (skippable(*p)) ++p;
  CsvField field;
  if (*p != '"') {
    const char* end = p;
    while (*end != delimiter && *end != '\n') ++end;
    field.next = end;
    while (end != p && is_blank(end[-1])) --end;
    field.content = {p, static_cast<std::size_t>(end - p)};
    return field;
  }
  const char* const open = p++;
  while (*p != '"' || p[1] == '"') {
    if (*p == '\n') {
      throw TextProblem{open,
                        "a quoted field is not closed on its line: line breaks inside quotes are "
                        "not supported"};
    }
    p += *p == '"' ? 2 : 1;
  }
  field.quoted = true;
  field.content = {open + 1, static_cast<std::size_t>(p - open - 1)};
  ++p;
  while (skippable(*p)) ++p;
  if (*p != delimiter && *p != '\n')
    throw TextProblem{p, "text behind a closing quote: double a quote inside a quoted field"};
  field.next = p;
  return field;
}

std::string csv_field_text(const CsvField& field) {
  std::string text(field.content);
  if (!field.quoted) return text;
  for (std::size_t i = text.find("\"\""); i != std::string::npos; i = text.find("\"\"", i + 1))
    text.erase(i, 1);
  return text;
}

std::string CsvLayout::describe(Index column) const {
  if (names.empty()) return fmt::format("column {}", column + 1);
  return "column " + quote_text(names[static_cast<std::size_t>(column)]);
}

std::vector<std::string> CsvLayout::feature_names() const {
  std::vector<std::string> result;
  for (Index c = 0; c < static_cast<Index>(names.size()); ++c) {
    if (c != label && c != weight) result.push_back(names[static_cast<std::size_t>(c)]);
  }
  return result;
}

CsvLayout detect_csv_layout(const ChunkedText& text, const ReadOptions& options) {
  CsvLayout layout;
  std::int64_t offset = 0;
  const std::string_view line = first_line(text, offset);
  if (line.empty()) return layout;
  layout.delimiter = guess_delimiter(line);
  const auto fields = split_line(text, line, offset, layout.delimiter);
  layout.columns = static_cast<Index>(fields.size());
  bool has_header = false;
  if (!options.weight_column.empty())
    layout.weight = find_column(text.name(), fields, options.weight_column, "weight", has_header);
  if (options.label_column.empty())
    layout.label = default_label(fields, has_header);
  else if (options.label_column != "none")
    layout.label = find_column(text.name(), fields, options.label_column, "label", has_header);
  if (layout.label >= 0 && layout.label == layout.weight)
    throw DataError(fmt::format("{}: column {} cannot be both label and weight", text.name(),
                                layout.label + 1));
  if (layout.features() <= 0) {
    throw DataError(
        fmt::format("{}: {}, and none left for features; label none reads "
                    "data without labels",
                    text.name(), counted(layout.columns, "column")));
  }
  for (Index c = 0; c < layout.columns; ++c) {
    if (c != layout.label && c != layout.weight)
      has_header = has_header || is_name(fields[static_cast<std::size_t>(c)]);
  }
  if (!has_header) return layout;
  layout.header_offset = offset;
  layout.names = fields;
  return layout;
}

}  // namespace tamis

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/memory.hpp"
#include "io/csv_fields.hpp"
#include "io/number_parser.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The first line that is not blank, '\n' included, and its place; empty if there is none.
struct FirstLine {
  std::string_view text;
  std::int64_t offset = 0;
};

FirstLine first_line(const ChunkedText& text, PieceBuffer& buffer, std::int64_t budget_bytes) {
  for (Index c = 0; c < text.num_chunks(); ++c) {
    require_memory("reading " + text.name(), text.chunk_bytes(c), budget_bytes);
    const TextChunk chunk = text.load(c, buffer);
    for (const char* line = chunk.begin; line != chunk.end;) {
      const char* p = line;
      while (is_blank(*p)) ++p;
      const auto* end =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(chunk.end - p)));
      if (p != end) {
        return {{line, static_cast<std::size_t>(end - line) + 1},
                chunk.offset + (line - chunk.begin)};
      }
      line = end + 1;
    }
  }
  return {};
}

// The most frequent candidate outside quotes; the comma if there is none.
char guess_delimiter(std::string_view line, const RunControl& control) {
  constexpr std::string_view kCandidates = ",;\t";
  std::int64_t counts[kCandidates.size()] = {};
  bool in_quotes = false;
  LinePoll poll(line.data(), control);
  for (const char& c : line) {
    if (c == '"') in_quotes = !in_quotes;
    const std::size_t which = in_quotes ? std::string_view::npos : kCandidates.find(c);
    if (which != std::string_view::npos) ++counts[which];
    poll.at(&c);
  }
  return kCandidates[static_cast<std::size_t>(std::max_element(counts, std::end(counts)) - counts)];
}

// A field of the first line that can only be a column's name. Missing and infinite values are not:
// the row is then reported, not taken for a header.
bool is_name(const CsvField& field) {
  if (field.content.empty()) return false;
  if (!field.quoted) {
    const char* const end = parse_number(field.content.data()).end;
    if (end == field.content.data() + field.content.size()) return false;
  }
  const std::string text = csv_field_text(field);
  const std::string ended = text + '\n';
  if (parse_number(ended.c_str()).end == ended.c_str() + text.size()) return false;
  return number_problem(text).find("is not a number") != std::string::npos;
}

bool equal_but_for_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char c, char l) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == l;
  });
}

// The fields of the first line, looked at one after the other: a file of one long line must not
// take many times its size.
class FirstFields {
 public:
  FirstFields(const ChunkedText& text, FirstLine line, char delimiter, const RunControl& control)
      : text_(text), line_(line), delimiter_(delimiter), control_(control) {}

  /// Calls use(column, field) until it returns true.
  template <typename Use>
  void each(const Use& use) const {
    LinePoll poll(line_.text.data(), control_);
    try {
      Index column = 0;
      for (const char* p = line_.text.data();; ++p, ++column) {
        const CsvField field = scan_csv_field(p, delimiter_);
        if (use(column, field)) return;
        p = field.next;
        poll.at(p);
        if (*p == '\n') return;
      }
    } catch (const TextProblem& problem) {
      text_.fail_at(line_.offset + (problem.where - line_.text.data()), problem.message);
    }
  }

  Index count() const {
    Index columns = 0;
    each([&](Index, const CsvField&) { return ++columns, false; });
    return columns;
  }

  /// The first column for which is_it(field) holds, or -1.
  template <typename IsIt>
  Index find(const IsIt& is_it) const {
    Index found = -1;
    each([&](Index column, const CsvField& field) {
      if (is_it(field)) found = column;
      return found >= 0;
    });
    return found;
  }

  std::vector<std::string> texts(Index most) const {
    std::vector<std::string> result;
    each([&](Index, const CsvField& field) {
      result.push_back(csv_field_text(field));
      return std::ssize(result) == most;
    });
    return result;
  }

  const std::string& file() const { return text_.name(); }

 private:
  const ChunkedText& text_;
  FirstLine line_;
  char delimiter_;
  const RunControl& control_;
};

// A column by number from 1, or else by name; `by_name` is set if it was found by name.
Index find_column(const FirstFields& fields, Index columns, const std::string& wanted,
                  const char* what, bool& by_name) {
  std::int64_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const auto parsed = std::from_chars(wanted.data(), end, number);
  const bool numeric = parsed.ec == std::errc() && parsed.ptr == end;
  if (numeric && number >= 1 && number <= columns) return number - 1;
  const Index named =
      fields.find([&](const CsvField& field) { return csv_field_text(field) == wanted; });
  if (named >= 0) {
    by_name = true;
    return named;
  }
  if (numeric) {
    throw DataError(fmt::format("{}: no {} column {}: the columns are 1 to {}", fields.file(), what,
                                wanted, columns));
  }
  std::string known;
  for (const std::string& name : fields.texts(8))
    known += (known.empty() ? "" : ", ") + quote_text(name);
  throw DataError(fmt::format("{}: no column is called {}; the first line has {}{}", fields.file(),
                              quote_text(wanted), known, columns > 8 ? ", ..." : ""));
}

// Columns that the model knows are features.
bool is_feature_of(const ColumnMap& model, const CsvField& field) {
  return !model.names.empty() && std::find(model.names.begin(), model.names.end(),
                                           csv_field_text(field)) != model.names.end();
}

// None if the file has exactly the columns that the model knows.
Index default_label(const FirstFields& fields, Index columns, const ColumnMap& model,
                    bool& by_name) {
  constexpr std::string_view kNames[] = {"label", "class", "target", "y"};  // the first one counts
  Index found[std::size(kNames)] = {-1, -1, -1, -1};
  fields.each([&](Index column, const CsvField& field) {
    for (std::size_t n = 0; n < std::size(kNames); ++n) {
      if (found[n] < 0 && equal_but_for_case(field.content, kNames[n]) &&
          !is_feature_of(model, field))
        found[n] = column;
    }
    return found[0] >= 0;
  });
  for (const Index column : found) {
    if (column < 0) continue;
    by_name = true;
    return column;
  }
  if (model.inputs == 0) return columns - 1;
  const Index known = fields.find([&](const CsvField& f) { return is_feature_of(model, f); });
  if (known < 0) return columns == model.inputs ? -1 : columns - 1;
  by_name = true;
  bool is_last_known = false;
  fields.each([&](Index column, const CsvField& field) {
    if (column + 1 == columns) is_last_known = is_feature_of(model, field);
    return false;
  });
  return is_last_known ? -1 : columns - 1;
}

// With text columns, any row of data may have words: only a line without a number is a header.
bool is_header_of_text(const FirstFields& fields, const CsvLayout& layout) {
  bool has_name = false;
  bool has_number = false;
  fields.each([&](Index column, const CsvField& field) {
    if (column == layout.label || column == layout.weight) return false;
    has_name = has_name || is_name(field);
    has_number = has_number || is_number_field(field);
    return has_number;
  });
  return has_name && !has_number;
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
    throw TextProblem{p, "text after a closing quote: double a quote inside a quoted field"};
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

CsvLayout detect_csv_layout(const ChunkedText& text, const ReadOptions& options,
                            std::int64_t budget_bytes, const RunControl& control) {
  CsvLayout layout;
  PieceBuffer buffer;
  const FirstLine line = first_line(text, buffer, budget_bytes);
  if (line.text.empty()) return layout;
  layout.delimiter = guess_delimiter(line.text, control);
  const FirstFields fields(text, line, layout.delimiter, control);
  layout.columns = fields.count();
  bool has_header = false;
  if (!options.weight_column.empty())
    layout.weight =
        find_column(fields, layout.columns, options.weight_column, "weight", has_header);
  if (options.label_column.empty())
    layout.label = default_label(fields, layout.columns, options.columns, has_header);
  else if (options.label_column != "none")
    layout.label = find_column(fields, layout.columns, options.label_column, "label", has_header);
  if (layout.label >= 0 && layout.label == layout.weight)
    throw DataError(fmt::format("{}: column {} cannot be both label and weight", text.name(),
                                layout.label + 1));
  if (layout.features() <= 0) {
    throw DataError(
        fmt::format("{}: {}, and none left for features; label none reads "
                    "data without labels",
                    text.name(), counted(layout.columns, "column")));
  }
  if (options.text_columns || !options.columns.texts.empty()) {
    has_header = has_header || is_header_of_text(fields, layout);
  } else {
    fields.each([&](Index column, const CsvField& field) {
      if (column != layout.label && column != layout.weight)
        has_header = has_header || is_name(field);
      return has_header;
    });
  }
  if (!has_header) return layout;
  layout.header_offset = line.offset;
  // The names are copied once more, for the features, while the line is held.
  require_column_memory("reading " + text.name(), layout.columns, 2 * Index{sizeof(std::string)},
                        budget_bytes - 2 * std::ssize(line.text));
  layout.names = fields.texts(layout.columns);
  return layout;
}

}  // namespace tamis

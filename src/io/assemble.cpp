// The second half of text_chunks.hpp: from parsed chunks to Matrix, Labels and weights.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "io/text_chunks.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Where each chunk's rows and entries go; one more element than chunks.
struct Places {
  std::vector<Index> row;
  std::vector<Index> entry;
};

Places place_chunks(const std::vector<RowChunk>& chunks) {
  Places places{{0}, {0}};
  for (const RowChunk& chunk : chunks) {
    places.row.push_back(places.row.back() + static_cast<Index>(chunk.rows.size()));
    places.entry.push_back(places.entry.back() + chunk.entry_count);
  }
  return places;
}

// Memory is first touched by the thread that fills it: no serial pass of zeros.
template <typename T>
std::shared_ptr<T[]> uninitialized(Index count) {
  return std::make_shared_for_overwrite<T[]>(static_cast<std::size_t>(count));
}

Matrix assemble_dense(std::vector<RowChunk>& chunks, const Places& places, Index cols) {
  auto values = uninitialized<float>(places.row.back() * cols);
  parallel_each(static_cast<Index>(chunks.size()), [&](Index c) {
    RowChunk& chunk = chunks[static_cast<std::size_t>(c)];
    float* out = values.get() + places.row[static_cast<std::size_t>(c)] * cols;
    const Entry* entry = chunk.entries.get();
    for (const ParsedRow& row : chunk.rows) {
      std::fill_n(out, cols, 0.0F);
      const Entry* const end = chunk.entries.get() + row.entries_end;
      for (; entry != end; ++entry) out[entry->column] = entry->value;
      out += cols;
    }
    chunk.entries.reset();
  });
  const float* data = values.get();
  return Matrix::dense_view(places.row.back(), cols, data, std::move(values));
}

struct SparseArrays {
  std::shared_ptr<Index[]> row_begin;
  std::shared_ptr<std::int32_t[]> columns;
  std::shared_ptr<float[]> values;
};

Matrix assemble_sparse(std::vector<RowChunk>& chunks, const Places& places, Index cols) {
  const Index rows = places.row.back();
  const Index stored = places.entry.back();
  auto arrays = std::make_shared<SparseArrays>(SparseArrays{uninitialized<Index>(rows + 1),
                                                            uninitialized<std::int32_t>(stored),
                                                            uninitialized<float>(stored)});
  arrays->row_begin[0] = 0;
  parallel_each(static_cast<Index>(chunks.size()), [&](Index c) {
    RowChunk& chunk = chunks[static_cast<std::size_t>(c)];
    const Index entry_base = places.entry[static_cast<std::size_t>(c)];
    Index* row_end = arrays->row_begin.get() + places.row[static_cast<std::size_t>(c)] + 1;
    for (const ParsedRow& row : chunk.rows) *row_end++ = entry_base + row.entries_end;
    std::int32_t* const columns = arrays->columns.get() + entry_base;
    float* const values = arrays->values.get() + entry_base;
    for (Index k = 0; k < chunk.entry_count; ++k) {
      columns[k] = chunk.entries[static_cast<std::size_t>(k)].column;
      values[k] = chunk.entries[static_cast<std::size_t>(k)].value;
    }
    chunk.entries.reset();
  });
  const auto count = static_cast<std::size_t>(stored);
  const SparseArrays& view = *arrays;
  return Matrix::sparse_view(cols, {view.row_begin.get(), static_cast<std::size_t>(rows) + 1},
                             {view.columns.get(), count}, {view.values.get(), count}, arrays);
}

// The labels of one chunk as codes into its own names, in the order they appear.
struct ChunkWords {
  std::vector<std::int32_t> codes;
  std::vector<std::string> names;
};

// Labels as text. The text is looked at again, since most data has numbers and needs none of it.
ChunkWords collect_words(const ChunkedText& text, Index index, const RowChunk& chunk,
                         const ChunkParser& parser, bool are_numbers) {
  ChunkWords words;
  PieceBuffer buffer;
  const TextChunk loaded = text.load(index, buffer);
  std::unordered_map<std::string, std::int32_t> known;
  words.codes.reserve(chunk.rows.size());
  for (const ParsedRow& row : chunk.rows) {
    std::string label = parser.label_at(loaded.begin + row.label_begin);
    if (are_numbers) label = number_label(label);
    const auto [entry, is_new] =
        known.emplace(std::move(label), static_cast<std::int32_t>(words.names.size()));
    if (is_new) words.names.push_back(entry->first);
    words.codes.push_back(entry->second);
  }
  return words;
}

Labels assemble_words(const ChunkedText& text, const std::vector<RowChunk>& chunks,
                      const ChunkParser& parser, bool are_numbers) {
  std::vector<ChunkWords> parts(chunks.size());
  parallel_each(static_cast<Index>(chunks.size()), [&](Index c) {
    try {
      parts[usize(c)] = collect_words(text, c, chunks[usize(c)], parser, are_numbers);
    } catch (const TextProblem&) {
      throw IoError(text.name() + ": the file changed while it was read");
    }
  });
  std::vector<std::int32_t> codes;
  std::vector<std::string> names;
  std::unordered_map<std::string, std::int32_t> known;
  for (const ChunkWords& part : parts) {
    std::vector<std::int32_t> global;
    for (const std::string& name : part.names) {
      const auto [entry, is_new] = known.emplace(name, static_cast<std::int32_t>(names.size()));
      if (is_new) names.push_back(name);
      global.push_back(entry->second);
    }
    for (const std::int32_t code : part.codes)
      codes.push_back(global[static_cast<std::size_t>(code)]);
  }
  return Labels::text(std::move(codes), std::move(names));
}

}  // namespace

bool store_dense(Index rows, Index cols, Index nonzeros) {
  const double cells = static_cast<double>(rows) * static_cast<double>(cols);
  const double dense_bytes = cells * sizeof(float);
  const double sparse_bytes =
      static_cast<double>(nonzeros) * sizeof(Entry) + static_cast<double>(rows + 1) * sizeof(Index);
  return dense_bytes <= 1.5 * sparse_bytes || static_cast<double>(nonzeros) >= 0.25 * cells;
}

Matrix assemble_matrix(std::vector<RowChunk>& chunks, Index cols, std::int64_t budget_bytes,
                       const std::string& what, Group& group) {
  const Places places = place_chunks(chunks);
  const Index rows = places.row.back();
  const Index stored = places.entry.back();
  const bool dense = store_dense(sum_of_all(group, rows), cols, sum_of_all(group, stored));
  const std::int64_t parsed_bytes = stored * Index{sizeof(Entry)};
  const std::int64_t matrix_bytes =
      dense ? checked_product(checked_product(rows, cols), sizeof(float))
            : parsed_bytes + (rows + 1) * Index{sizeof(Index)};
  // What was parsed, with a label for each row, is held until the end.
  const std::int64_t row_bytes = rows * Index{sizeof(ParsedRow) + sizeof(double)};
  require_memory(what, checked_sum(matrix_bytes, parsed_bytes + row_bytes), budget_bytes);
  return dense ? assemble_dense(chunks, places, cols) : assemble_sparse(chunks, places, cols);
}

LabelCounts count_labels(const std::vector<RowChunk>& chunks, Group& group) {
  LabelCounts counts;
  for (const RowChunk& chunk : chunks) counts.add(chunk.labels);
  if (group.size() == 1) return counts;
  counts.numbers = sum_of_all(group, counts.numbers);
  counts.words = sum_of_all(group, counts.words);
  counts.rounded = any_of_all(group, counts.rounded);
  return counts;
}

Labels assemble_labels(const ChunkedText& text, const std::vector<RowChunk>& chunks,
                       const ChunkParser& parser, const ReadOptions& options) {
  const LabelCounts counts = count_labels(chunks, text.group());
  if (counts.numbers + counts.words == 0) return {};
  if (options.labels_as_text) return assemble_words(text, chunks, parser, false);
  if (counts.words > 0 && counts.words < counts.numbers) {
    if (counts.first_word != first_of_all(text.group(), counts.first_word))
      throw GroupFailure(text.name() + ": another rank has found an error");
    text.fail_at(counts.first_word,
                 fmt::format("the label {} is a word, but the labels of {} are numbers: correct "
                             "it, or read labels as text",
                             quote_text(counts.word), counted(counts.numbers, "row")));
  }
  if (counts.words > 0) return assemble_words(text, chunks, parser, false);
  if (counts.rounded && options.text_labels) return assemble_words(text, chunks, parser, true);
  const Places places = place_chunks(chunks);
  std::vector<double> numbers(usize(places.row.back()));
  parallel_each(static_cast<Index>(chunks.size()), [&](Index c) {
    double* next = numbers.data() + places.row[usize(c)];
    for (const ParsedRow& row : chunks[usize(c)].rows) *next++ = row.label_number;
  });
  return Labels::numeric(std::move(numbers));
}

std::vector<double> assemble_weights(const std::vector<RowChunk>& chunks) {
  std::vector<double> weights;
  for (const RowChunk& chunk : chunks)
    weights.insert(weights.end(), chunk.weights.begin(), chunk.weights.end());
  return weights;
}

}  // namespace tamis

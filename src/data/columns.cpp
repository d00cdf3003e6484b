#include "tamis/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "data/column_medians.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr Index kBlockRows = 1024;  // mapped by one thread at a time
constexpr Index kManyOutputs = 4;   // times as many as inputs: most of them are zero
constexpr Index kMostInputsWithText = Index{1} << 20;  // each has a list of categories

bool are_distinct(std::span<const std::string> names) {
  const std::set<std::string_view> distinct(names.begin(), names.end());
  return distinct.size() == names.size() && !distinct.contains("");
}

bool is_category(const ColumnMap::Text& text, float value) {
  return value >= 0 && value <= static_cast<float>(text.categories.size()) &&
         value == std::floor(value);
}

// One row after the other, its values to emit(output, value) in ascending order of outputs. Zeros
// are not emitted.
class RowMapper {
 public:
  RowMapper(const ColumnMap& map, const Matrix& rows)
      : map_(map), rows_(rows), first_indicator_(map.outputs() - std::ssize(map.indicators)) {}

  // False, at the first bad value.
  template <typename Emit>
  bool map_row(Index row, const Emit& emit) {
    next_text_ = 0;
    shift_ = 0;
    missing_.clear();
    bool is_good = true;
    if (rows_.is_sparse()) {
      const SparseRow values = rows_.sparse_row(row);
      for (std::size_t k = 0; k < values.columns.size() && is_good; ++k)
        is_good = map_value(values.columns[k], values.values[k], emit);
    } else {
      const auto values = rows_.dense_row(row);
      for (std::size_t j = 0; j < values.size() && is_good; ++j)
        is_good = map_value(static_cast<Index>(j), values[j], emit);
    }
    if (!is_good) return false;
    pass_texts(map_.inputs, emit);
    auto indicator = map_.indicators.begin();
    for (const Index column : missing_) {
      indicator = std::lower_bound(indicator, map_.indicators.end(), column);
      if (indicator != map_.indicators.end() && *indicator == column)
        emit(first_indicator_ + (indicator - map_.indicators.begin()), 1.0F);
    }
    return true;
  }

  Index bad_column() const { return bad_column_; }

 private:
  template <typename Emit>
  bool map_value(Index column, float value, const Emit& emit) {
    pass_texts(column, emit);
    const bool is_text = next_text_ < map_.texts.size() && map_.texts[next_text_].column == column;
    const bool is_missing = std::isnan(value);
    if (is_missing ? map_.fills.empty() : !is_allowed(is_text, value)) {
      bad_column_ = column;
      return false;
    }
    if (is_missing) missing_.push_back(column);
    if (is_text) {
      emit_category(is_missing ? std::nullopt : std::optional(static_cast<Index>(value)), emit);
    } else {
      const float number = is_missing ? map_.fills[usize(column)] : value;
      if (number != 0) emit(column + shift_, number);
    }
    return true;
  }

  bool is_allowed(bool is_text, float value) const {
    return is_text ? is_category(map_.texts[next_text_], value) : std::isfinite(value);
  }

  // Text columns before `column` that the row has no value of: sparse rows, category 0.
  template <typename Emit>
  void pass_texts(Index column, const Emit& emit) {
    while (next_text_ < map_.texts.size() && map_.texts[next_text_].column < column)
      emit_category(0, emit);
  }

  // Of the next text column; none: missing.
  template <typename Emit>
  void emit_category(std::optional<Index> category, const Emit& emit) {
    const ColumnMap::Text& text = map_.texts[next_text_++];
    const auto known = static_cast<Index>(text.categories.size());
    if (category && *category > 0) emit(text.column + shift_ + *category - 1, 1.0F);
    if (category && *category == 0 && text.has_other) emit(text.column + shift_ + known, 1.0F);
    shift_ += text.width() - 1;
  }

  const ColumnMap& map_;
  const Matrix& rows_;
  Index first_indicator_;
  std::size_t next_text_ = 0;
  Index shift_ = 0;  // of the outputs against the inputs
  std::vector<Index> missing_;
  Index bad_column_ = -1;
};

[[noreturn]] void fail_value(const ColumnMap& map, const Matrix& rows, Index row, Index column) {
  const float value = rows.at(row, column);
  const std::string place =
      fmt::format("row {}, {}", rows.row_number(row), map.describe_column(column));
  if (std::isnan(value))
    throw DataError(place + " is missing: the model was trained without missing values");
  if (!std::isfinite(value))
    throw DataError(fmt::format("{} is {}: values must be finite", place, value));
  throw DataError(fmt::format("{} is {}, which is no number of a category", place, value));
}

// The first row of all threads that could not be mapped.
class FirstBadRow {
 public:
  void note(Index row) {
    Index seen = row_.load();
    while (row < seen && !row_.compare_exchange_weak(seen, row)) {
    }
  }
  void fail_if_any(const ColumnMap& map, const Matrix& rows) const {
    if (row_ == kNone) return;
    RowMapper mapper(map, rows);
    mapper.map_row(row_, [](Index, float) {});
    fail_value(map, rows, row_, mapper.bad_column());
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  std::atomic<Index> row_{kNone};
};

Matrix apply_dense(const ColumnMap& map, const Matrix& rows, Index cols,
                   const RunControl& control) {
  const Index count = checked_product(rows.rows(), cols);
  require_memory("mapping the columns", checked_product(count, sizeof(float)),
                 memory_left(control.memory_bytes));
  std::vector<float> values(usize(count), 0.0F);
  FirstBadRow bad;
  parallel_ranges(rows.rows(), kBlockRows, [&](Index begin, Index end) {
    if (control.cancelled()) throw Cancelled();
    RowMapper mapper(map, rows);
    for (Index i = begin; i < end; ++i) {
      float* out = values.data() + i * cols;
      if (!mapper.map_row(i, [&](Index output, float value) { out[output] = value; })) bad.note(i);
    }
  });
  bad.fail_if_any(map, rows);
  return Matrix::dense(rows.rows(), cols, std::move(values));
}

struct SparseBlock {
  std::vector<Index> row_ends;
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

Matrix apply_sparse(const ColumnMap& map, const Matrix& rows, Index cols,
                    const RunControl& control) {
  // A value at most of every stored one, text column and indicator, in a block and in the result.
  constexpr Index kEntryBytes = 2 * (sizeof(float) + sizeof(std::int32_t));
  const Index more = std::ssize(map.texts) + std::ssize(map.indicators);
  const Index entries = checked_sum(rows.num_stored(), checked_product(rows.rows(), more));
  require_memory("mapping the columns", checked_product(entries, kEntryBytes),
                 memory_left(control.memory_bytes));
  std::vector<SparseBlock> blocks(usize((rows.rows() + kBlockRows - 1) / kBlockRows));
  FirstBadRow bad;
  parallel_each(std::ssize(blocks), [&](Index b) {
    if (control.cancelled()) throw Cancelled();
    SparseBlock& block = blocks[usize(b)];
    RowMapper mapper(map, rows);
    for (Index i = b * kBlockRows; i < std::min(rows.rows(), (b + 1) * kBlockRows); ++i) {
      const bool is_good = mapper.map_row(i, [&](Index output, float value) {
        block.columns.push_back(static_cast<std::int32_t>(output));
        block.values.push_back(value);
      });
      if (!is_good) bad.note(i);
      block.row_ends.push_back(std::ssize(block.columns));
    }
  });
  bad.fail_if_any(map, rows);
  std::vector<Index> row_begin{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (SparseBlock& block : blocks) {
    const Index before = std::ssize(columns);
    for (const Index end : block.row_ends) row_begin.push_back(before + end);
    columns.insert(columns.end(), block.columns.begin(), block.columns.end());
    values.insert(values.end(), block.values.begin(), block.values.end());
    block = {};
  }
  return Matrix::sparse(cols, std::move(row_begin), std::move(columns), std::move(values));
}

// How often each category of a column occurs: [0] others, [k] category k.
std::vector<Index> count_categories(const Matrix& rows, Index column, std::size_t categories) {
  std::vector<Index> counts(categories + 1, 0);
  for (Index i = 0; i < rows.rows(); ++i) {
    const float value = rows.at(i, column);
    if (std::isnan(value)) continue;
    const bool is_known = value >= 1 && value <= static_cast<float>(categories);
    ++counts[is_known ? static_cast<std::size_t>(value) : 0];
  }
  return counts;
}

// The most frequent categories; of equally frequent ones those that come first by name.
ColumnMap::Text learn_text(const Dataset& data, Index column, Index most) {
  const std::vector<std::string>& names = data.categories()[usize(column)];
  const std::vector<Index> counts = count_categories(data.features(), column, names.size());
  std::vector<std::size_t> seen;
  for (std::size_t k = 1; k < counts.size(); ++k) {
    if (counts[k] > 0) seen.push_back(k);
  }
  std::sort(seen.begin(), seen.end(), [&](std::size_t a, std::size_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : names[a - 1] < names[b - 1];
  });
  ColumnMap::Text text;
  text.column = column;
  text.has_other = counts[0] > 0 || std::ssize(seen) > most;
  seen.resize(std::min(seen.size(), usize(most)));
  for (const std::size_t k : seen) text.categories.push_back(names[k - 1]);
  std::sort(text.categories.begin(), text.categories.end());
  return text;
}

std::vector<Index> columns_with_missing(const Matrix& rows) {
  std::vector<std::uint8_t> is_missing(usize(rows.cols()), 0);
  for (Index i = 0; i < rows.rows(); ++i) {
    if (rows.is_sparse()) {
      const SparseRow row = rows.sparse_row(i);
      for (std::size_t k = 0; k < row.columns.size(); ++k) {
        if (std::isnan(row.values[k])) is_missing[usize(row.columns[k])] = 1;
      }
    } else {
      const auto row = rows.dense_row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (std::isnan(row[j])) is_missing[j] = 1;
      }
    }
  }
  std::vector<Index> columns;
  for (std::size_t j = 0; j < is_missing.size(); ++j) {
    if (is_missing[j] != 0) columns.push_back(static_cast<Index>(j));
  }
  return columns;
}

}  // namespace

ColumnMap ColumnMap::fit(const Dataset& data, const ColumnOptions& options,
                         const RunControl& control) {
  ColumnMap map;
  map.inputs = data.cols();
  if (are_distinct(data.feature_names()))
    map.names.assign(data.feature_names().begin(), data.feature_names().end());
  for (std::size_t j = 0; j < data.categories().size(); ++j) {
    if (data.categories()[j].empty()) continue;
    const auto column = static_cast<Index>(j);
    if (options.text == TextColumns::refuse)
      throw DataError(fmt::format("{} is text: use text-columns one-hot, or remove it",
                                  map.describe_column(column)));
    map.texts.push_back(learn_text(data, column, options.max_categories));
  }
  if (!map.texts.empty() && map.inputs > kMostInputsWithText)
    throw DataError(fmt::format("{} with text among them: at most {} are possible",
                                counted(map.inputs, "column"), kMostInputsWithText));
  if (options.missing == MissingValues::impute) {
    // The medians first: they ask for more memory than the indicators take.
    map.fills =
        with_threads(control.threads, [&] { return column_medians(data.features(), control); });
    map.indicators = columns_with_missing(data.features());
    for (const Text& text : map.texts) map.fills[usize(text.column)] = 0;
  }
  if (map.is_identity() && map.names.empty()) map.inputs = 0;
  return map;
}

Matrix ColumnMap::apply(const Matrix& rows, const RunControl& control) const {
  if (inputs == 0) return rows;
  Matrix fitted = rows.with_cols(inputs);
  if (is_identity()) return fitted;
  const Index cols = outputs();
  return with_threads(control.threads, [&] {
    if (fitted.is_sparse() || cols >= kManyOutputs * inputs)
      return apply_sparse(*this, fitted, cols, control).numbered_as(rows);
    return apply_dense(*this, fitted, cols, control).numbered_as(rows);
  });
}

Index ColumnMap::outputs() const {
  Index count = checked_sum(inputs, std::ssize(indicators));
  for (const Text& text : texts) count += text.width() - 1;
  return count;
}

std::string ColumnMap::describe_column(Index column) const {
  if (column < static_cast<Index>(names.size()))
    return fmt::format("column '{}'", names[usize(column)]);
  return fmt::format("column {}", column + 1);
}

std::vector<std::string> ColumnMap::output_names() const {
  const auto name = [&](Index column) {
    return names.empty() ? fmt::format("column {}", column + 1) : names[usize(column)];
  };
  std::vector<std::string> result;
  std::size_t next = 0;
  for (Index j = 0; j < inputs; ++j) {
    if (next == texts.size() || texts[next].column != j) {
      result.push_back(name(j));
      continue;
    }
    const Text& text = texts[next++];
    for (const std::string& category : text.categories) result.push_back(name(j) + "=" + category);
    if (text.has_other) result.push_back(name(j) + "=other");
  }
  for (const Index column : indicators) result.push_back(name(column) + " missing");
  return result;
}

void ColumnMap::validate() const {
  const auto require = [](bool condition, const char* message) {
    if (!condition) throw DataError(message);
  };
  require(inputs >= 0 && inputs <= std::numeric_limits<std::int32_t>::max(),
          "the number of input columns is out of range");
  require(names.empty() || static_cast<Index>(names.size()) == inputs,
          "the names of the columns are not as many as the columns");
  require(are_distinct(names), "two columns have the same name, or one has none");
  require(fills.empty() || static_cast<Index>(fills.size()) == inputs,
          "the values for missing ones are not as many as the columns");
  require(std::all_of(fills.begin(), fills.end(), [](float v) { return std::isfinite(v); }),
          "a value for missing ones is not finite");
  require(indicators.empty() || !fills.empty(), "an indicator of a column that is never missing");
  Index last = -1;
  for (const Index column : indicators) {
    require(column > last && column < inputs, "the columns with an indicator must ascend");
    last = column;
  }
  last = -1;
  require(texts.empty() || inputs <= kMostInputsWithText, "too many columns with text among them");
  for (const Text& text : texts) {
    require(text.column > last && text.column < inputs, "the text columns must ascend");
    last = text.column;
    require(std::ssize(text.categories) <= kMostCategories,
            "a text column has too many categories");
    require(std::adjacent_find(text.categories.begin(), text.categories.end(),
                               std::greater_equal<>()) == text.categories.end(),
            "the categories of a column must be distinct and ascend");
  }
}

}  // namespace tamis

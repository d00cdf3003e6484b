// ColumnMap::match(): the columns of a model among those of other rows.
#include "data/column_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// The place of each input among the columns of the rows.
std::vector<Index> places_by_name(const ColumnMap& map, std::span<const std::string> names) {
  std::unordered_map<std::string_view, Index> place_of;
  std::set<std::string_view> twice;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!place_of.emplace(names[j], static_cast<Index>(j)).second) twice.insert(names[j]);
  }
  std::vector<Index> places;
  for (const std::string& name : map.names) {
    const auto found = place_of.find(name);
    if (found == place_of.end())
      throw DataError(
          fmt::format("the rows have no column '{}', which the model was trained with", name));
    if (twice.contains(name)) throw DataError(fmt::format("the rows have two columns '{}'", name));
    places.push_back(found->second);
  }
  return places;
}

// `copies` tables of numbers for all rows and columns.
void require_dense_memory(Index rows, Index cols, Index copies, const RunControl& control) {
  require_memory("matching the columns",
                 checked_product(checked_product(rows, cols), copies * Index{sizeof(float)}),
                 memory_left(control.memory_bytes));
}

Matrix take_columns(const Matrix& rows, std::span<const Index> places, const RunControl& control) {
  const auto cols = std::ssize(places);
  if (!rows.is_sparse()) {
    require_dense_memory(rows.rows(), cols, 1, control);
    std::vector<float> values(usize(rows.rows() * cols));
    for (Index i = 0; i < rows.rows(); ++i) {
      const auto row = rows.dense_row(i);
      for (Index j = 0; j < cols; ++j) values[usize(i * cols + j)] = row[usize(places[usize(j)])];
    }
    return Matrix::dense(rows.rows(), cols, std::move(values));
  }
  std::vector<std::int32_t> new_place(usize(rows.cols()), -1);
  for (Index j = 0; j < cols; ++j)
    new_place[usize(places[usize(j)])] = static_cast<std::int32_t>(j);
  std::vector<Index> row_begin{0};
  std::vector<std::pair<std::int32_t, float>> entries;
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (Index i = 0; i < rows.rows(); ++i) {
    const SparseRow row = rows.sparse_row(i);
    entries.clear();
    for (std::size_t k = 0; k < row.columns.size(); ++k) {
      const std::int32_t place = new_place[usize(row.columns[k])];
      if (place >= 0) entries.emplace_back(place, row.values[k]);
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, value] : entries) {
      columns.push_back(column);
      values.push_back(value);
    }
    row_begin.push_back(std::ssize(columns));
  }
  return Matrix::sparse(cols, std::move(row_begin), std::move(columns), std::move(values));
}

// The category in `text` of each value in a column of the rows.
class Translation {
 public:
  Translation(const ColumnMap::Text& text, std::span<const std::string> own)
      : text_(text), has_names_(!own.empty()) {
    for (const std::string& name : own) codes_.push_back(code_of(name));
  }

  float translate(float value) const {
    if (std::isnan(value)) return value;
    if (!has_names_) return code_of(fmt::format("{}", value));  // numbers, here
    const bool is_known = value >= 1 && value <= static_cast<float>(codes_.size());
    return is_known ? codes_[static_cast<std::size_t>(value) - 1] : 0.0F;
  }

 private:
  float code_of(const std::string& name) const {
    const auto& all = text_.categories;
    const auto found = std::lower_bound(all.begin(), all.end(), name);
    if (found == all.end() || *found != name) return 0;
    return static_cast<float>(found - all.begin() + 1);
  }

  const ColumnMap::Text& text_;
  bool has_names_;
  std::vector<float> codes_;
};

Matrix translated_sparse(const Matrix& rows, std::span<const ColumnMap::Text> texts,
                         std::span<const Translation> translations) {
  std::vector<Index> row_begin{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (Index i = 0; i < rows.rows(); ++i) {
    const SparseRow row = rows.sparse_row(i);
    std::size_t t = 0;
    for (std::size_t k = 0; k < row.columns.size(); ++k) {
      while (t < texts.size() && texts[t].column < row.columns[k]) ++t;
      const bool is_text = t < texts.size() && texts[t].column == row.columns[k];
      const float value = is_text ? translations[t].translate(row.values[k]) : row.values[k];
      if (value == 0) continue;
      columns.push_back(row.columns[k]);
      values.push_back(value);
    }
    row_begin.push_back(std::ssize(columns));
  }
  return Matrix::sparse(rows.cols(), std::move(row_begin), std::move(columns), std::move(values));
}

// The rows with the map's numbers in their text columns.
Matrix translated(const Matrix& rows, std::span<const ColumnMap::Text> texts,
                  std::span<const Translation> translations, const RunControl& control) {
  const bool keeps_zeros = std::all_of(translations.begin(), translations.end(),
                                       [](const Translation& t) { return t.translate(0) == 0; });
  if (rows.is_sparse() && keeps_zeros) return translated_sparse(rows, texts, translations);
  require_dense_memory(rows.rows(), rows.cols(), rows.is_sparse() ? 2 : 1, control);
  const Matrix dense = rows.to_dense();
  std::vector<float> values(dense.dense_values().begin(), dense.dense_values().end());
  for (std::size_t t = 0; t < texts.size(); ++t) {
    for (Index i = 0; i < dense.rows(); ++i) {
      float& value = values[usize(i * dense.cols() + texts[t].column)];
      value = translations[t].translate(value);
    }
  }
  return Matrix::dense(dense.rows(), dense.cols(), std::move(values));
}

}  // namespace

Dataset ColumnMap::match(const Dataset& data) const { return match_columns(*this, data, {}); }

Dataset match_columns(const ColumnMap& map, const Dataset& data, const RunControl& control) {
  const Index inputs = map.inputs;
  const std::vector<std::string>& names = map.names;
  const std::vector<ColumnMap::Text>& texts = map.texts;
  if (inputs == 0) return data;
  const bool by_name = !names.empty() && !data.feature_names().empty();
  std::vector<Index> places;
  if (by_name) places = places_by_name(map, data.feature_names());
  bool in_order = !by_name || data.cols() == inputs;
  for (std::size_t j = 0; j < places.size(); ++j)
    in_order = in_order && places[j] == static_cast<Index>(j);
  Matrix rows = in_order ? data.features() : take_columns(data.features(), places, control);
  if (!by_name && data.cols() < inputs) rows = rows.with_cols(inputs);
  const auto categories_here = [&](Index column) -> std::span<const std::string> {
    const Index place = by_name ? places[usize(column)] : column;
    if (data.categories().empty() || place >= data.cols()) return {};
    return data.categories()[usize(place)];
  };
  std::vector<std::vector<std::string>> categories(texts.empty() ? 0 : usize(rows.cols()));
  for (const ColumnMap::Text& text : texts) categories[usize(text.column)] = text.categories;
  for (Index j = 0; j < inputs && !data.categories().empty(); ++j) {
    if (categories_here(j).empty()) continue;
    const bool was_text =
        std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return text.column == j; });
    if (!was_text)
      throw DataError(fmt::format("{} is text, but the model was trained with numbers in it",
                                  map.describe_column(j)));
  }
  std::vector<Translation> translations;
  bool is_same = true;
  for (const ColumnMap::Text& text : texts) {
    const auto here = categories_here(text.column);
    translations.emplace_back(text, here);
    is_same = is_same &&
              std::equal(here.begin(), here.end(), text.categories.begin(), text.categories.end());
  }
  if (!is_same) rows = translated(rows, texts, translations, control);
  const bool names_fit = static_cast<Index>(names.size()) == rows.cols();
  Dataset result(rows.numbered_as(data.features()), data.labels(),
                 {data.weights().begin(), data.weights().end()},
                 names_fit ? names : std::vector<std::string>());
  return categories.empty() ? result : result.with_categories(std::move(categories));
}

}  // namespace tamis

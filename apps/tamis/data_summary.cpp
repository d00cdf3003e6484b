#include "data_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "tamis/columns.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

constexpr Index kMostClasses = 100;  // more distinct whole numbers than this are targets

struct Column {
  float low = 0;
  float high = 0;
  Index stored = 0;  // values that are not zero
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

// Adds one value to its column and to the hash of its row. Zeros do not count, so that dense and
// sparse storage of the same row give the same hash.
void visit(Column& column, Index j, float value, std::uint64_t& hash) {
  if (value == 0) return;
  column.low = column.stored == 0 ? value : std::min(column.low, value);
  column.high = column.stored == 0 ? value : std::max(column.high, value);
  ++column.stored;
  hash = mix(mix(hash, static_cast<std::uint64_t>(j)), std::bit_cast<std::uint32_t>(value));
}

// By the column's number. Only columns that have values: a sparse file may name column two billion,
// and nothing between.
using Columns = std::unordered_map<Index, Column>;

std::vector<std::uint64_t> scan(const Matrix& x, Columns& columns, const RunControl& control) {
  std::vector<Column*> quick(static_cast<std::size_t>(std::min<Index>(x.cols(), 1 << 20)));
  const auto column_at = [&](Index j) -> Column& {
    if (j >= static_cast<Index>(quick.size())) return columns[j];
    Column*& place = quick[static_cast<std::size_t>(j)];
    if (place == nullptr) place = &columns[j];  // elements of the map never move
    return *place;
  };
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(x.rows()), 1);
  for (Index i = 0; i < x.rows(); ++i) {
    if (i % 1024 == 0 && control.cancelled()) throw Cancelled();
    std::uint64_t& hash = hashes[static_cast<std::size_t>(i)];
    if (x.is_sparse()) {
      const SparseRow row = x.sparse_row(i);
      for (std::size_t k = 0; k < row.values.size(); ++k)
        visit(column_at(row.columns[k]), row.columns[k], row.values[k], hash);
    } else {
      const auto row = x.dense_row(i);
      for (std::size_t j = 0; j < row.size(); ++j)
        visit(column_at(static_cast<Index>(j)), static_cast<Index>(j), row[j], hash);
    }
  }
  return hashes;
}

void summarize_columns(Columns& columns, DataSummary& out) {
  double widest = 0;
  double narrowest = INFINITY;
  Index nonzero = 0;
  // The columns not seen hold zeros only.
  out.constant_columns = out.features - static_cast<Index>(columns.size());
  bool first = out.constant_columns == 0;
  for (auto& [number, column] : columns) {
    nonzero += column.stored;
    if (column.stored < out.rows) {
      column.low = std::min(column.low, 0.0F);
      column.high = std::max(column.high, 0.0F);
    }
    out.smallest_value = first ? column.low : std::min<double>(out.smallest_value, column.low);
    out.largest_value = first ? column.high : std::max<double>(out.largest_value, column.high);
    first = false;
    const double range = static_cast<double>(column.high) - column.low;
    if (range <= 0) {
      ++out.constant_columns;
      continue;
    }
    widest = std::max(widest, range);
    narrowest = std::min(narrowest, range);
  }
  out.density = static_cast<double>(nonzero) /
                std::max(1.0, static_cast<double>(out.rows) * static_cast<double>(out.features));
  out.range_ratio = widest > 0 ? widest / narrowest : 0;
}

void summarize_labels(const Labels& labels, DataSummary& out) {
  if (labels.empty()) return;
  const Labels distinct = distinct_classes(labels);
  bool whole = true;
  if (labels.kind() == LabelKind::numeric) {
    out.smallest_target = out.largest_target = labels.number(0);
    for (Index c = 0; c < distinct.size(); ++c) {
      whole = whole && std::floor(distinct.number(c)) == distinct.number(c);
      out.smallest_target = std::min(out.smallest_target, distinct.number(c));
      out.largest_target = std::max(out.largest_target, distinct.number(c));
    }
    out.has_targets = !whole || distinct.size() > kMostClasses;
    if (out.has_targets) return;
  }
  std::vector<Index> counts(static_cast<std::size_t>(distinct.size()), 0);
  for (const std::int32_t code : encode_labels(labels, distinct))
    ++counts[static_cast<std::size_t>(code)];
  for (Index c = 0; c < distinct.size(); ++c)
    out.classes.emplace_back(distinct.name(c), counts[static_cast<std::size_t>(c)]);
}

// Rows are taken as equal when their 64-bit hashes are: among a billion rows, a chance of 3 % that
// even one pair is counted wrongly.
void count_duplicates(const std::vector<std::uint64_t>& hashes, const Labels& labels,
                      DataSummary& out) {
  std::vector<std::pair<std::uint64_t, Index>> order;
  order.reserve(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i)
    order.emplace_back(hashes[i], static_cast<Index>(i));
  std::sort(order.begin(), order.end());
  const auto differ = [&labels](Index a, Index b) {
    if (labels.empty()) return false;
    return labels.kind() == LabelKind::numeric ? labels.number(a) != labels.number(b)
                                               : labels.name(a) != labels.name(b);
  };
  std::size_t leader = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (order[k].first != order[leader].first) {
      leader = k;
      continue;
    }
    ++out.duplicate_rows;
    if (differ(order[k].second, order[leader].second)) ++out.contradicting_rows;
  }
}

// Rows without a value, by column; only of columns that have such rows.
std::unordered_map<Index, Index> count_missing(const Matrix& x) {
  std::unordered_map<Index, Index> counts;
  const auto add = [&](Index j, float value) {
    if (std::isnan(value)) ++counts[j];
  };
  for (Index i = 0; i < x.rows(); ++i) {
    if (x.is_sparse()) {
      const SparseRow row = x.sparse_row(i);
      for (std::size_t k = 0; k < row.values.size(); ++k) add(row.columns[k], row.values[k]);
    } else {
      const auto row = x.dense_row(i);
      for (std::size_t j = 0; j < row.size(); ++j) add(static_cast<Index>(j), row[j]);
    }
  }
  return counts;
}

// The columns of a table as training would see them with text and missing values allowed.
Dataset as_numbers(const Dataset& data, const RunControl& control, DataSummary& out) {
  const auto missing = count_missing(data.features());
  if (missing.empty() && data.categories().empty()) return data;
  const ColumnMap map = ColumnMap::fit(
      data, {.missing = MissingValues::impute, .text = TextColumns::one_hot}, control);
  for (Index j = 0; j < data.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const auto found = missing.find(j);
    TableColumn column{.name = map.describe_column(j)};
    if (!data.categories().empty()) column.categories = std::ssize(data.categories()[at]);
    if (found != missing.end()) column.missing = found->second;
    if (column.categories > 0 || column.missing > 0) out.table_columns.push_back(column);
  }
  return data.with_features(map.apply(map.match(data).features(), control));
}

void advise_table(const DataSummary& s, std::vector<std::string>& lines) {
  bool text = false;
  bool missing = false;
  for (const TableColumn& column : s.table_columns) {
    // An identifier: its categories say nothing about other rows.
    if (2 * column.categories > s.rows)
      lines.push_back(fmt::format("{} has a different text in most rows: remove it", column.name));
    else
      text = text || column.categories > 0;
    missing = missing || column.missing > 0;
  }
  if (text) lines.emplace_back("text columns: train with --text-columns one-hot, or remove them");
  if (missing) lines.emplace_back("missing values: train with --missing impute, or remove them");
}

}  // namespace

DataSummary summarize(const Dataset& table, const RunControl& control) {
  DataSummary out;
  const Dataset data = as_numbers(table, control, out);
  require_finite(data.features());
  out.rows = data.rows();
  out.features = data.cols();
  out.sparse = data.features().is_sparse();
  Columns columns;
  const auto hashes = scan(data.features(), columns, control);
  summarize_columns(columns, out);
  out.features = table.cols();
  summarize_labels(data.labels(), out);
  count_duplicates(hashes, data.labels(), out);
  return out;
}

std::vector<std::string> advice(const DataSummary& s, const std::string& path) {
  std::vector<std::string> lines;
  advise_table(s, lines);
  const double magnitude = std::max(std::abs(s.smallest_value), std::abs(s.largest_value));
  if (s.range_ratio > 10)
    lines.push_back(fmt::format(
        "the widest column spans {:.3g} times the narrowest: scale them, as in tamis train {} "
        "--scale {}",
        s.range_ratio, path, s.sparse ? "maxabs" : "standard"));
  else if (magnitude > 100)
    lines.push_back(
        fmt::format("values reach {:.3g}: kernels work best near [-1, 1], see tamis "
                    "scale --help",
                    magnitude));
  if (s.constant_columns > 0)
    lines.push_back(fmt::format("{} constant (of {}): constant columns carry no information",
                                counted(s.constant_columns, "column is", "columns are"),
                                s.features));
  if (s.classes.size() == 1) lines.push_back("there is only one class: nothing to learn");
  if (s.classes.size() > 1) {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [few, many] = std::minmax_element(s.classes.begin(), s.classes.end(), by_count);
    if (few->second * 10 < many->second)
      lines.push_back(
          fmt::format("class {} has {} for {} of class {}: accuracy alone is "
                      "misleading; consider class weights",
                      few->first, counted(few->second, "row"), many->second, many->first));
  }
  if (s.contradicting_rows > 0)
    lines.push_back(
        fmt::format("{} another row with a different label: no model can "
                    "be right on both",
                    counted(s.contradicting_rows, "row repeats", "rows repeat")));
  return lines;
}

}  // namespace tamis::cli

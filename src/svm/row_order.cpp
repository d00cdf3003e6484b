#include "svm/row_order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/mix.hpp"
#include "base/parallel.hpp"
#include "gram/near_points.hpp"

namespace tamis {
namespace {

constexpr Index kRunOfNearRows = 64;  // as NearPoints looks at them

// Rows that differ in rare values only are parted very unevenly: more rounds would not pay.
constexpr int kMostRounds = 64;

// A value at its column; zeros count nothing, so that dense and sparse rows agree.
std::uint64_t mix_value(Index column, float value) {
  if (value == 0.0F) return 0;
  return mix((static_cast<std::uint64_t>(column) + 1) << 32 | std::bit_cast<std::uint32_t>(value));
}

std::uint64_t hash_row(const Matrix& features, Index row) {
  std::uint64_t sum = 0;
  if (features.is_sparse()) {
    const SparseRow entries = features.sparse_row(row);
    for (std::size_t k = 0; k < entries.values.size(); ++k)
      sum += mix_value(entries.columns[k], entries.values[k]);
    return sum;
  }
  const auto values = features.dense_row(row);
  for (std::size_t j = 0; j < values.size(); ++j)
    sum += mix_value(static_cast<Index>(j), values[j]);
  return sum;
}

// Puts the rows with the smaller values of the widest column first; returns how many, or 0 when
// there is nothing to tell them apart. Equal values stay on one side, however uneven: a box with
// both values of a binary column would be near to every row.
Index part(const Matrix& features, const BinaryTask& task, std::span<std::size_t> places) {
  RowVector<Index> rows(task.rows.get_allocator());
  rows.reserve(places.size());
  for (const std::size_t place : places) rows.push_back(task.rows[place]);
  const Index column = widest_column(features, rows);
  if (column < 0) return 0;
  RowVector<std::pair<float, std::size_t>> keys(task.rows.get_allocator());
  keys.reserve(places.size());
  for (std::size_t k = 0; k < places.size(); ++k)
    keys.emplace_back(features.at(rows[k], column), places[k]);
  const auto half = keys.begin() + round_up(std::ssize(keys) / 2, kRunOfNearRows);
  std::nth_element(keys.begin(), half, keys.end());
  const float value = half->first;
  const auto less =
      std::partition(keys.begin(), half, [&](const auto& key) { return key.first < value; });
  const auto more =
      std::partition(half, keys.end(), [&](const auto& key) { return key.first == value; });
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = keys[k].second;
  const bool to_less = less != keys.begin() && (more == keys.end() || half - less < more - half);
  return (to_less ? less : more) - keys.begin();
}

BinaryTask in_order(const BinaryTask& task, std::span<const std::size_t> places) {
  BinaryTask ordered =
      empty_task(task.index, std::ssize(places), task.rows.get_allocator().store());
  ordered.keys.reserve(task.keys.size());
  for (const std::size_t place : places) {
    ordered.rows.push_back(task.rows[place]);
    ordered.targets.push_back(task.targets[place]);
    if (!task.keys.empty()) ordered.keys.push_back(task.keys[place]);
  }
  return ordered;
}

struct ContentKey {
  std::uint64_t hash;
  std::size_t position;  // decides only between rows that hold the same
};

ContentKey content_key(std::uint64_t row_hash, std::span<const double> cost, const BinaryTask& task,
                       std::size_t position) {
  std::uint64_t hash = mix(row_hash);
  hash = mix(hash ^ std::bit_cast<std::uint64_t>(task.targets[position]));
  hash = mix(hash ^ std::bit_cast<std::uint64_t>(cost[usize(task.rows[position])]));
  return {hash, position};
}

void sort_keys(RowVector<ContentKey>* keys) {
  parallel_sort(std::span(*keys), [](const ContentKey& a, const ContentKey& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.position < b.position;
  });
}

BinaryTask in_order(const BinaryTask& task, std::span<const ContentKey> keys) {
  RowVector<std::size_t> places(task.rows.get_allocator());
  places.reserve(keys.size());
  for (const ContentKey& key : keys) places.push_back(key.position);
  return in_order(task, places);
}

}  // namespace

Index widest_column(const Matrix& features, std::span<const Index> rows) {
  constexpr std::size_t kSample = 256;
  const std::size_t count = std::min(kSample, rows.size());
  std::vector<double> sums(usize(features.cols()), 0.0);
  std::vector<double> squares(usize(features.cols()), 0.0);
  std::vector<float> values(usize(features.cols()));
  for (std::size_t k = 0; k < count; ++k) {
    features.copy_row(rows[k * rows.size() / count], values);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const auto value = static_cast<double>(values[j]);
      sums[j] += value;
      squares[j] += value * value;
    }
  }
  Index widest = -1;
  double most = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double mean = sums[j] / static_cast<double>(count);
    const double variance = squares[j] / static_cast<double>(count) - mean * mean;
    if (variance > most) {
      most = variance;
      widest = static_cast<Index>(j);
    }
  }
  return widest;
}

RowVector<std::uint64_t> hash_rows(const Matrix& features, const RowStore& store) {
  RowVector<std::uint64_t> hashes(usize(features.rows()), store);
  parallel_ranges(features.rows(), 1024, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) hashes[usize(row)] = hash_row(features, row);
  });
  return hashes;
}

RowVector<std::uint64_t> hash_rows(const Matrix& features, std::span<const Index> rows,
                                   const RowStore& store) {
  RowVector<std::uint64_t> hashes(rows.size(), store);
  parallel_ranges(std::ssize(rows), 1024, [&](Index begin, Index end) {
    for (auto k = usize(begin); k < usize(end); ++k) hashes[k] = hash_row(features, rows[k]);
  });
  return hashes;
}

BinaryTask ordered_by_content(const Matrix& features, std::span<const double> cost,
                              const BinaryTask& task) {
  RowVector<ContentKey> keys(task.rows.size(), task.rows.get_allocator());
  parallel_ranges(static_cast<Index>(keys.size()), 256, [&](Index begin, Index end) {
    for (auto k = usize(begin); k < usize(end); ++k)
      keys[k] = content_key(hash_row(features, task.rows[k]), cost, task, k);
  });
  sort_keys(&keys);
  BinaryTask ordered = in_order(task, keys);
  ordered.keys.reserve(keys.size());
  std::uint64_t copy = 0;  // of a row that holds the same as those before
  for (std::size_t k = 0; k < keys.size(); ++k) {
    copy = k > 0 && keys[k].hash == keys[k - 1].hash ? copy + 1 : 0;
    ordered.keys.push_back(copy == 0 ? keys[k].hash : mix(keys[k].hash + copy));
  }
  return ordered;
}

BinaryTask ordered_by_content(std::span<const std::uint64_t> hashes, std::span<const double> cost,
                              const BinaryTask& task) {
  RowVector<ContentKey> keys(task.rows.size(), task.rows.get_allocator());
  for (std::size_t k = 0; k < keys.size(); ++k)
    keys[k] = content_key(hashes[usize(task.rows[k])], cost, task, k);
  sort_keys(&keys);
  return in_order(task, keys);
}

std::vector<std::size_t> far_sample(const BinaryTask& task) {
  RowVector<std::size_t> places(task.rows.size(), task.rows.get_allocator());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const std::size_t count = std::min(places.size(), usize(kFarSample));
  std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count),
                    places.end(),
                    [&](std::size_t a, std::size_t b) { return task.keys[a] < task.keys[b]; });
  return {places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count)};
}

BinaryTask near_rows_together(const Matrix& features, const BinaryTask& task) {
  RowVector<std::size_t> places(task.rows.size(), task.rows.get_allocator());
  std::iota(places.begin(), places.end(), std::size_t{0});
  struct Run {
    Index begin, end;
  };
  std::vector<Run> runs{{0, static_cast<Index>(places.size())}};
  for (int round = 0; round < kMostRounds && !runs.empty(); ++round) {
    std::vector<Index> middles(runs.size());
    parallel_each(static_cast<Index>(runs.size()), [&](Index r) {
      const auto [begin, end] = runs[usize(r)];
      if (end - begin <= kRunOfNearRows) return;
      middles[usize(r)] =
          part(features, task, std::span(places).subspan(usize(begin), usize(end - begin)));
    });
    std::vector<Run> halves;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (middles[r] == 0) continue;
      halves.push_back({runs[r].begin, runs[r].begin + middles[r]});
      halves.push_back({runs[r].begin + middles[r], runs[r].end});
    }
    runs = std::move(halves);
  }
  return in_order(task, places);
}

}  // namespace tamis

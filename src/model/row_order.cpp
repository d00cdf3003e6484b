#include "model/row_order.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

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

}  // namespace

BinaryTask ordered_by_content(const Matrix& features, std::span<const double> cost,
                              const BinaryTask& task) {
  struct Key {
    std::uint64_t hash;
    std::size_t position;  // decides only between rows that hold the same
  };
  std::vector<Key> keys(task.rows.size());
  parallel_ranges(static_cast<Index>(keys.size()), 256, [&](Index begin, Index end) {
    for (auto k = usize(begin); k < usize(end); ++k) {
      const Index row = task.rows[k];
      std::uint64_t hash = mix(hash_row(features, row));
      hash = mix(hash ^ std::bit_cast<std::uint64_t>(task.targets[k]));
      keys[k] = {mix(hash ^ std::bit_cast<std::uint64_t>(cost[usize(row)])), k};
    }
  });
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.position < b.position;
  });
  BinaryTask ordered;
  ordered.index = task.index;
  ordered.rows.reserve(keys.size());
  ordered.targets.reserve(keys.size());
  for (const Key& key : keys) {
    ordered.rows.push_back(task.rows[key.position]);
    ordered.targets.push_back(task.targets[key.position]);
  }
  return ordered;
}

}  // namespace tamis

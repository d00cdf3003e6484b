#include "eval/row_content.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/checked.hpp"
#include "base/mix.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

// Three last bits of a float: once rounded to 8 digits, once to float.
constexpr double kSimilar = 4e-7;

bool are_similar(float a, float b) {
  const double larger =
      std::max(std::abs(static_cast<double>(a)), std::abs(static_cast<double>(b)));
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= kSimilar * larger;
}

}  // namespace

RowContent::RowContent(const Matrix& rows, bool serial_only)
    : rows_(rows), serial_only_(serial_only), group_(usize(rows.rows()), -1) {
  std::vector<std::pair<std::uint64_t, Index>> sorted(usize(rows.rows()));
  parallel_ranges(rows.rows(), 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) sorted[usize(i)] = {hash(rows, i), i};
  });
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const auto [value, row] = sorted[k];
    // Groups of this hash are the last ones made; usually there is none, or one.
    Index group = -1;
    for (std::size_t g = by_hash_.size(); g-- > 0 && by_hash_[g].first == value && group < 0;) {
      const Index candidate = by_hash_[g].second;
      if (entries(rows, row) == entries(rows, first_row_[usize(candidate)])) group = candidate;
    }
    if (group < 0) {
      group = num_groups();
      first_row_.push_back(row);
      by_hash_.emplace_back(value, group);
    }
    group_[usize(row)] = group;
  }
}

std::vector<RowContent::Entry> RowContent::entries(const Matrix& matrix, Index row) const {
  if (serial_only_) return {{0, matrix.at(row, 0)}};
  std::vector<Entry> result;
  if (matrix.is_sparse()) {
    const SparseRow sparse = matrix.sparse_row(row);
    for (std::size_t k = 0; k < sparse.columns.size(); ++k) {
      if (sparse.values[k] != 0) result.emplace_back(sparse.columns[k], sparse.values[k]);
    }
  } else {
    const auto dense = matrix.dense_row(row);
    for (std::size_t j = 0; j < dense.size(); ++j) {
      if (dense[j] != 0) result.emplace_back(static_cast<std::int32_t>(j), dense[j]);
    }
  }
  return result;
}

std::uint64_t RowContent::hash(const Matrix& matrix, Index row) const {
  std::uint64_t sum = 0;
  for (const auto& [column, value] : entries(matrix, row)) {
    const auto place = static_cast<std::uint64_t>(static_cast<std::uint32_t>(column)) << 32;
    sum += mix(place | std::bit_cast<std::uint32_t>(value));
  }
  return sum;
}

std::vector<Index> RowContent::find(const Matrix& vectors) const {
  std::vector<Index> groups(usize(vectors.rows()), -1);
  parallel_ranges(vectors.rows(), 256, [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v) groups[usize(v)] = find_equal(vectors, v);
  });
  if (!serial_only_ && std::find(groups.begin(), groups.end(), -1) != groups.end())
    find_similar(vectors, &groups);
  return groups;
}

Index RowContent::find_equal(const Matrix& vectors, Index v) const {
  const std::uint64_t value = hash(vectors, v);
  auto it =
      std::lower_bound(by_hash_.begin(), by_hash_.end(), std::pair<std::uint64_t, Index>(value, 0));
  for (; it != by_hash_.end() && it->first == value; ++it) {
    if (entries(vectors, v) == entries(rows_, first_row_[usize(it->second)])) return it->second;
  }
  return -1;
}

// Similar rows have similar sums of the magnitudes of their values: sorted by that sum, candidates
// are neighbours.
void RowContent::find_similar(const Matrix& vectors, std::vector<Index>* groups) const {
  const auto magnitude = [this](const Matrix& matrix, Index row) {
    double sum = 0;
    for (const auto& [column, value] : entries(matrix, row))
      sum += std::abs(static_cast<double>(value));
    return sum;
  };
  std::vector<std::pair<double, Index>> sorted(usize(num_groups()));
  parallel_ranges(num_groups(), 1024, [&](Index begin, Index end) {
    for (Index g = begin; g < end; ++g)
      sorted[usize(g)] = {magnitude(rows_, first_row_[usize(g)]), g};
  });
  std::sort(sorted.begin(), sorted.end());
  const auto same = [](const std::vector<Entry>& a, const std::vector<Entry>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Entry& x, const Entry& y) {
      return x.first == y.first && are_similar(x.second, y.second);
    });
  };
  parallel_ranges(vectors.rows(), 16, [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v) {
      if ((*groups)[usize(v)] >= 0) continue;
      const std::vector<Entry> wanted = entries(vectors, v);
      const double size = magnitude(vectors, v);
      auto it = std::lower_bound(sorted.begin(), sorted.end(),
                                 std::pair<double, Index>(size * (1 - 2 * kSimilar), -1));
      for (; it != sorted.end() && it->first <= size * (1 + 2 * kSimilar); ++it) {
        if (!same(wanted, entries(rows_, first_row_[usize(it->second)]))) continue;
        (*groups)[usize(v)] = it->second;
        break;
      }
    }
  });
}

}  // namespace tamis

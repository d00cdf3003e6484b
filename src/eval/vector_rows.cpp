#include "eval/vector_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "base/infinity.hpp"
#include "base/mix.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

// Three last bits of a float: once rounded to 8 digits, once to float.
constexpr double kSimilar = 4e-7;
constexpr Index kRowsAtOnce = 4096;

bool are_similar(float a, float b) {
  const double larger =
      std::max(std::abs(static_cast<double>(a)), std::abs(static_cast<double>(b)));
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= kSimilar * larger;
}

/// What rows hold: their columns and values other than zero.
class Contents {
 public:
  using Entry = std::pair<std::int32_t, float>;

  Contents(const Matrix& matrix, bool serial_only) : matrix_(matrix), serial_only_(serial_only) {}

  template <typename Use>
  void for_each_entry(Index row, const Use& use) const {
    if (serial_only_) {
      use(0, matrix_.at(row, 0));
    } else if (matrix_.is_sparse()) {
      const SparseRow sparse = matrix_.sparse_row(row);
      for (std::size_t k = 0; k < sparse.columns.size(); ++k) {
        if (sparse.values[k] != 0) use(sparse.columns[k], sparse.values[k]);
      }
    } else {
      const auto dense = matrix_.dense_row(row);
      for (std::size_t j = 0; j < dense.size(); ++j) {
        if (dense[j] != 0) use(static_cast<std::int32_t>(j), dense[j]);
      }
    }
  }

  std::vector<Entry> entries(Index row) const {
    std::vector<Entry> result;
    for_each_entry(row,
                   [&](std::int32_t column, float value) { result.emplace_back(column, value); });
    return result;
  }

  std::uint64_t hash(Index row) const {
    std::uint64_t sum = 0;
    for_each_entry(row, [&](std::int32_t column, float value) {
      const auto place = static_cast<std::uint64_t>(static_cast<std::uint32_t>(column)) << 32;
      sum += mix(place | std::bit_cast<std::uint32_t>(value));
    });
    return sum;
  }

  /// Sum of the magnitudes of the values: similar for similar rows.
  double magnitude(Index row) const {
    double sum = 0;
    for_each_entry(row,
                   [&](std::int32_t, float value) { sum += std::abs(static_cast<double>(value)); });
    return sum;
  }

 private:
  const Matrix& matrix_;
  bool serial_only_;
};

bool are_similar(const std::vector<Contents::Entry>& a, const std::vector<Contents::Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Contents::Entry& x, const Contents::Entry& y) {
                      return x.first == y.first && are_similar(x.second, y.second);
                    });
}

/// Stands for one content: of two contents that could be meant, the one that comes first is taken.
struct ContentKey {
  double magnitude = kInfinity;
  std::uint64_t hash = 0;
  bool operator==(const ContentKey& other) const {
    return magnitude == other.magnitude && hash == other.hash;
  }
  bool operator<(const ContentKey& other) const {
    return magnitude != other.magnitude ? magnitude < other.magnitude : hash < other.hash;
  }
};

/// The vectors, to be looked up by what they hold.
class VectorTable {
 public:
  VectorTable(const Matrix& vectors, bool serial_only) : contents_(vectors, serial_only) {
    const auto count = usize(vectors.rows());
    first_equal_.resize(count);
    by_hash_.reserve(count);
    std::vector<std::pair<std::uint64_t, Index>> sorted(count);
    parallel_ranges(vectors.rows(), 256, [&](Index begin, Index end) {
      for (Index v = begin; v < end; ++v) sorted[usize(v)] = {contents_.hash(v), v};
    });
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [hash, v] : sorted) {
      const Index known = find(hash, contents_, v);
      first_equal_[usize(v)] = known < 0 ? v : known;
      if (known < 0) by_hash_.emplace_back(hash, v);
    }
  }

  const Contents& contents() const { return contents_; }
  /// Of the vectors equal to this one, the first.
  Index first_equal(std::size_t v) const { return first_equal_[v]; }

  /// The first vector equal to this row; -1: none is.
  Index find(std::uint64_t hash, const Contents& rows, Index row) const {
    auto it = std::lower_bound(by_hash_.begin(), by_hash_.end(),
                               std::pair<std::uint64_t, Index>(hash, 0));
    for (; it != by_hash_.end() && it->first == hash; ++it) {
      if (rows.entries(row) == contents_.entries(it->second)) return it->second;
    }
    return -1;
  }
  /// The same for a content of which the key is all that is known.
  Index find(const ContentKey& key) const {
    auto it = std::lower_bound(by_hash_.begin(), by_hash_.end(),
                               std::pair<std::uint64_t, Index>(key.hash, 0));
    for (; it != by_hash_.end() && it->first == key.hash; ++it) {
      if (contents_.magnitude(it->second) == key.magnitude) return it->second;
    }
    return -1;
  }

 private:
  Contents contents_;
  std::vector<Index> first_equal_;
  std::vector<std::pair<std::uint64_t, Index>> by_hash_;  // ascending; of equal vectors the first
};

/// The rows for which vector_of() gives a vector, in their order.
template <typename VectorOf>
std::vector<VectorRow> rows_with_vector(Index rows, const VectorOf& vector_of) {
  std::vector<std::vector<VectorRow>> found(usize((rows + kRowsAtOnce - 1) / kRowsAtOnce));
  parallel_each(std::ssize(found), [&](Index part) {
    const Index end = std::min((part + 1) * kRowsAtOnce, rows);
    for (Index row = part * kRowsAtOnce; row < end; ++row) {
      const Index vector = vector_of(row);
      if (vector >= 0) found[usize(part)].push_back({row, vector});
    }
  });
  std::vector<VectorRow> all;
  for (const std::vector<VectorRow>& some : found) all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// Vectors that equal no row, and the content of a row that each of them may be.
class SimilarRows {
 public:
  /// `vectors` are some of the table's; all must outlive it.
  SimilarRows(const VectorTable& table, const std::vector<Index>& vectors, const Contents& rows)
      : vectors_(table.contents()), which_(vectors), rows_(rows), meant_(vectors.size()) {
    by_magnitude_.reserve(vectors.size());
    for (std::size_t k = 0; k < vectors.size(); ++k)
      by_magnitude_.emplace_back(vectors_.magnitude(vectors[k]), k);
    std::sort(by_magnitude_.begin(), by_magnitude_.end());
  }

  void look_at(Index count, const std::function<bool(Index)>& counts, Group& group) {
    std::vector<Found> found(usize((count + kRowsAtOnce - 1) / kRowsAtOnce));
    parallel_each(std::ssize(found), [&](Index part) {
      const Index end = std::min((part + 1) * kRowsAtOnce, count);
      for (Index row = part * kRowsAtOnce; row < end; ++row) {
        if (counts(row)) note(row, found[usize(part)]);
      }
    });
    for (const Found& some : found) {
      for (const auto& [k, key] : some) meant_[k] = std::min(meant_[k], key);
    }
    for (const std::vector<ContentKey>& others : gather_lists(group, meant_)) {
      for (std::size_t k = 0; k < others.size(); ++k) meant_[k] = std::min(meant_[k], others[k]);
    }
  }

  /// Which content each of the vectors is; without one, an infinite magnitude.
  const std::vector<ContentKey>& meant() const { return meant_; }

 private:
  using Found = std::unordered_map<std::size_t, ContentKey>;

  void note(Index row, Found& found) const {
    const double size = rows_.magnitude(row);
    auto it = std::lower_bound(by_magnitude_.begin(), by_magnitude_.end(),
                               std::pair<double, std::size_t>(size * (1 - 4 * kSimilar), 0));
    if (it == by_magnitude_.end() || it->first > size * (1 + 4 * kSimilar)) return;
    const std::vector<Contents::Entry> entries = rows_.entries(row);
    const ContentKey key{size, rows_.hash(row)};
    for (; it != by_magnitude_.end() && it->first <= size * (1 + 4 * kSimilar); ++it) {
      if (!are_similar(entries, vectors_.entries(which_[it->second]))) continue;
      ContentKey& first = found[it->second];
      first = std::min(first, key);
    }
  }

  const Contents& vectors_;
  const std::vector<Index>& which_;
  const Contents& rows_;
  std::vector<std::pair<double, std::size_t>> by_magnitude_;
  std::vector<ContentKey> meant_;
};

}  // namespace

VectorRows find_vector_rows(const Matrix& vectors, const Matrix& rows, bool serial_only,
                            const std::function<bool(Index)>& counts, Group& group) {
  const VectorTable table(vectors, serial_only);
  const Contents contents(rows, serial_only);
  VectorRows result;
  result.rows = rows_with_vector(rows.rows(), [&](Index row) -> Index {
    const Index vector = table.find(contents.hash(row), contents, row);
    return vector >= 0 && counts(row) ? vector : -1;
  });
  std::vector<char> is_row(usize(vectors.rows()), 0);
  for (const VectorRow& found : result.rows) is_row[usize(found.vector)] = 1;
  for (const std::vector<char>& others : gather_lists(group, is_row)) {
    for (std::size_t v = 0; v < is_row.size(); ++v) is_row[v] |= others[v];
  }
  result.names.assign(is_row.size(), -1);
  std::vector<Index> left;
  for (std::size_t v = 0; v < is_row.size(); ++v) {
    const Index first = table.first_equal(v);
    if (is_row[usize(first)] != 0)
      result.names[v] = first;
    else if (first == static_cast<Index>(v))
      left.push_back(first);
  }
  if (left.empty() || serial_only) return result;

  SimilarRows similar(table, left, contents);
  similar.look_at(rows.rows(), counts, group);
  std::vector<std::pair<ContentKey, Index>> named;  // contents that no vector equals, by their keys
  for (std::size_t k = 0; k < left.size(); ++k) {
    const ContentKey& key = similar.meant()[k];
    if (key.magnitude == kInfinity) continue;
    const Index equal = table.find(key);
    Index& name = result.names[usize(left[k])];
    if (equal >= 0 && is_row[usize(equal)] != 0)
      name = equal;
    else
      named.emplace_back(key, left[k]);
  }
  std::sort(named.begin(), named.end());
  const auto name_of = [&](const ContentKey& key) -> Index {
    const auto it = std::lower_bound(named.begin(), named.end(), std::pair(key, Index{0}));
    return it != named.end() && it->first == key ? it->second : -1;
  };
  for (const auto& [key, vector] : named) result.names[usize(vector)] = name_of(key);
  for (std::size_t v = 0; v < is_row.size(); ++v)
    result.names[v] = result.names[usize(table.first_equal(v))];
  const std::vector<VectorRow> more = rows_with_vector(rows.rows(), [&](Index row) -> Index {
    const Index name = name_of({contents.magnitude(row), contents.hash(row)});
    return name >= 0 && counts(row) ? name : -1;
  });
  std::vector<VectorRow> all(result.rows.size() + more.size());
  std::merge(result.rows.begin(), result.rows.end(), more.begin(), more.end(), all.begin(),
             [](const VectorRow& a, const VectorRow& b) { return a.row < b.row; });
  result.rows = std::move(all);
  return result;
}

}  // namespace tamis

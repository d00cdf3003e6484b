#include "neighbors/neighbor_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "neighbors/brute_force.hpp"
#include "neighbors/candidates.hpp"
#include "neighbors/distances.hpp"
#include "neighbors/kd_tree.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Queries stored unlike the points are copied this many floats at a time.
constexpr Index kCopiedFloats = Index{1} << 24;

std::vector<Index> all_rows(const Matrix& matrix) {
  std::vector<Index> rows(usize(matrix.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

}  // namespace

void QueryBatch::poll() const {
  if (control.cancelled()) throw Cancelled();
}

NeighborIndex::~NeighborIndex() = default;

Index NeighborIndex::num_points() const { return space_->points().rows(); }

// Calls body(batch, first query) for the queries, all at once when they are stored like the points.
template <typename Body>
void NeighborIndex::for_each_batch(const Matrix& queries, std::span<const Index> rows,
                                   const RunControl& control, const Body& body) const {
  if (queries.cols() != space_->points().cols()) {
    throw InvalidArgument(fmt::format("queries have {} columns, the indexed rows {}",
                                      queries.cols(), space_->points().cols()));
  }
  if (space_->like_points(queries)) {
    constexpr Index kMost =
        std::numeric_limits<std::uint32_t>::max();  // queries have 32-bit numbers
    for (Index first = 0; first < static_cast<Index>(rows.size()); first += kMost) {
      const auto some = rows.subspan(
          usize(first), usize(std::min(kMost, static_cast<Index>(rows.size()) - first)));
      const std::vector<float> self = space_->self_values(queries, some);
      body(QueryBatch{queries, some, self, control}, first);
    }
    return;
  }
  const Index most = std::max<Index>(1, kCopiedFloats / std::max<Index>(1, queries.cols()));
  for (Index first = 0; first < static_cast<Index>(rows.size()); first += most) {
    const Index count = std::min(most, static_cast<Index>(rows.size()) - first);
    const Matrix copy =
        space_->stored_like_points(queries.select(rows.subspan(usize(first), usize(count))));
    const std::vector<Index> copied = all_rows(copy);
    const std::vector<float> self = space_->self_values(copy, copied);
    body(QueryBatch{copy, copied, self, control}, first);
  }
}

Neighbors NeighborIndex::nearest(const Matrix& queries, std::span<const Index> rows, Index k,
                                 const RunControl& control) const {
  if (k < 1) throw InvalidArgument(fmt::format("k is {}: it must be at least 1", k));
  Neighbors result;
  result.per_query = std::min(k, num_points());
  if (result.per_query == 0) return result;
  const Index total = checked_product(static_cast<Index>(rows.size()), result.per_query);
  require_memory("the list of neighbours",
                 checked_product(total, static_cast<Index>(sizeof(Index) + sizeof(float))),
                 memory_left(control.memory_bytes));
  result.rows.resize(usize(total));
  result.squared_distances.resize(usize(total));
  for_each_batch(queries, rows, control, [&](const QueryBatch& batch, Index first_query) {
    const std::vector<std::uint32_t> order = visit_order(batch);
    parallel_ranges(batch.size(), group_size(), [&](Index begin, Index end) {
      std::vector<Candidates> found(usize(std::min(group_size(), end - begin)));
      std::vector<std::uint32_t> group;
      for (Index first = begin; first < end; first += group_size()) {
        batch.poll();
        group.clear();
        for (Index i = first; i < std::min(first + group_size(), end); ++i)
          group.push_back(order.empty() ? static_cast<std::uint32_t>(i) : order[usize(i)]);
        const std::span<Candidates> used(found.data(), group.size());
        for (Candidates& candidates : used) candidates.start_nearest(result.per_query);
        search(batch, group, used);
        for (std::size_t i = 0; i < group.size(); ++i) {
          Index at = (first_query + group[i]) * result.per_query;
          const auto keys = used[i].sorted();
          TAMIS_CHECK(static_cast<Index>(keys.size()) == result.per_query);
          for (const NeighborKey key : keys) {
            result.rows[usize(at)] = key_row(key);
            result.squared_distances[usize(at)] = space_->reported(key_distance(key));
            ++at;
          }
        }
      }
    });
  });
  return result;
}

Neighbors NeighborIndex::nearest(const Matrix& queries, Index k, const RunControl& control) const {
  return nearest(queries, all_rows(queries), k, control);
}

Balls NeighborIndex::within(const Matrix& queries, std::span<const Index> rows,
                            double squared_radius, const RunControl& control) const {
  const float limit = space_->internal_limit(squared_radius);
  // The keys of each group, joined once all sizes are known.
  struct Part {
    std::vector<std::uint32_t> queries;
    std::vector<Index> begin{0};
    std::vector<NeighborKey> keys;
  };
  Balls result;
  result.begin.assign(rows.size() + 1, 0);
  if (limit < 0) return result;
  for_each_batch(queries, rows, control, [&](const QueryBatch& batch, Index first_query) {
    const std::vector<std::uint32_t> order = visit_order(batch);
    std::vector<Part> parts(usize(round_up(batch.size(), group_size()) / group_size()));
    std::atomic<Index> held_bytes = 0;
    const Index left_bytes = memory_left(control.memory_bytes);
    parallel_ranges(batch.size(), group_size(), [&](Index begin, Index end) {
      std::vector<Candidates> found(usize(std::min(group_size(), end - begin)));
      for (Index first = begin; first < end; first += group_size()) {
        batch.poll();
        Part& part = parts[usize(first / group_size())];
        for (Index i = first; i < std::min(first + group_size(), end); ++i)
          part.queries.push_back(order.empty() ? static_cast<std::uint32_t>(i) : order[usize(i)]);
        const std::span<Candidates> used(found.data(), part.queries.size());
        for (Candidates& candidates : used) candidates.start_within(limit);
        search(batch, part.queries, used);
        for (Candidates& candidates : used) {
          const auto keys = candidates.sorted();
          part.keys.insert(part.keys.end(), keys.begin(), keys.end());
          part.begin.push_back(static_cast<Index>(part.keys.size()));
        }
        // Twice: once as keys, once in the result.
        const Index bytes = 20 * static_cast<Index>(part.keys.size());
        require_memory("the list of rows within the radius", held_bytes += bytes, left_bytes);
      }
    });
    for (const Part& part : parts) {
      for (std::size_t i = 0; i < part.queries.size(); ++i)
        result.begin[usize(first_query + part.queries[i] + 1)] = part.begin[i + 1] - part.begin[i];
    }
    for (Index q = first_query; q < first_query + batch.size(); ++q)
      result.begin[usize(q + 1)] += result.begin[usize(q)];
    const auto total = usize(result.begin[usize(first_query + batch.size())]);
    result.rows.resize(total);
    result.squared_distances.resize(total);
    parallel_each(static_cast<Index>(parts.size()), [&](Index p) {
      const Part& part = parts[usize(p)];
      for (std::size_t i = 0; i < part.queries.size(); ++i) {
        Index at = result.begin[usize(first_query + part.queries[i])];
        for (Index j = part.begin[i]; j < part.begin[i + 1]; ++j, ++at) {
          result.rows[usize(at)] = key_row(part.keys[usize(j)]);
          result.squared_distances[usize(at)] = space_->reported(key_distance(part.keys[usize(j)]));
        }
      }
    });
  });
  return result;
}

Balls NeighborIndex::within(const Matrix& queries, double squared_radius,
                            const RunControl& control) const {
  return within(queries, all_rows(queries), squared_radius, control);
}

std::unique_ptr<NeighborIndex> make_neighbor_index(const Matrix& points, const Metric& metric,
                                                   Structure structure, const RunControl& control,
                                                   Index /*expected_k*/) {
  auto space = std::make_shared<const Space>(metric, points);
  if (structure == Structure::kd_tree) {
    if (!space->uses_differences()) {
      throw InvalidArgument(
          "a kd-tree needs Euclidean order (Euclidean, linear or RBF distance) and rows that are "
          "not very sparse");
    }
    if (points.rows() > 0) return std::make_unique<KdTree>(space, control);
  }
  return std::make_unique<BruteForce>(space);
}

}  // namespace tamis

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
#include "neighbors/candidates.hpp"
#include "neighbors/distances.hpp"
#include "neighbors/structures.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

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
    throw InvalidArgument(fmt::format("queries have {}, the indexed rows {}",
                                      counted(queries.cols(), "column"), space_->points().cols()));
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

// Answers all queries of a batch in groups: start(candidates) before, finish(query, candidates)
// after the search, the latter from many threads.
template <typename Start, typename Finish>
void NeighborIndex::run_groups(const QueryBatch& batch, const Start& start,
                               const Finish& finish) const {
  const std::vector<std::uint32_t> order = visit_order(batch);
  const Index size = group_size();
  parallel_ranges(batch.size(), size, [&](Index begin, Index end) {
    std::vector<Candidates> found(usize(std::min(size, end - begin)));
    std::vector<std::uint32_t> group;
    for (Index first = begin; first < end; first += size) {
      batch.poll();
      group.clear();
      for (Index i = first; i < std::min(first + size, end); ++i)
        group.push_back(order.empty() ? static_cast<std::uint32_t>(i) : order[usize(i)]);
      const std::span<Candidates> used(found.data(), group.size());
      for (Candidates& candidates : used) start(candidates);
      search(batch, group, used);
      for (std::size_t i = 0; i < group.size(); ++i) finish(Index{group[i]}, used[i]);
    }
  });
}

Neighbors NeighborIndex::nearest(const Matrix& queries, std::span<const Index> rows, Index k,
                                 const RunControl& control) const {
  constexpr Index kAlways = Index{1} << 20;  // memory_left() is never less: not worth asking for
  if (k < 1) throw InvalidArgument(fmt::format("k is {}: it must be at least 1", k));
  Neighbors result;
  result.per_query = std::min(k, num_points());
  if (result.per_query == 0) return result;
  const Index total = checked_product(static_cast<Index>(rows.size()), result.per_query);
  const Index bytes = checked_product(total, static_cast<Index>(sizeof(Index) + sizeof(float)));
  if (bytes > kAlways)
    require_memory("the list of neighbors", bytes, memory_left(control.memory_bytes));
  result.rows.resize(usize(total));
  result.squared_distances.resize(usize(total));
  for_each_batch(queries, rows, control, [&](const QueryBatch& batch, Index first_query) {
    run_groups(
        batch, [&](Candidates& candidates) { candidates.start_nearest(result.per_query); },
        [&](Index query, Candidates& candidates) {
          Index at = (first_query + query) * result.per_query;
          const auto keys = candidates.sorted();
          TAMIS_CHECK(static_cast<Index>(keys.size()) == result.per_query);
          for (const NeighborKey key : keys) {
            result.rows[usize(at)] = key_row(key);
            result.squared_distances[usize(at)] = space_->reported(key_distance(key));
            ++at;
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
  // The keys of each query, joined once all sizes are known.
  std::vector<std::vector<NeighborKey>> balls(rows.size());
  std::atomic<Index> held_bytes = 0;
  const Index left_bytes = memory_left(control.memory_bytes);
  for_each_batch(queries, rows, control, [&](const QueryBatch& batch, Index first_query) {
    const float limit = space_->internal_limit(squared_radius);
    if (limit < 0) return;
    run_groups(
        batch, [&](Candidates& candidates) { candidates.start_within(limit); },
        [&](Index query, Candidates& candidates) {
          const auto keys = candidates.sorted();
          // As keys, then as rows and distances.
          constexpr Index kBytes = sizeof(NeighborKey) + sizeof(Index) + sizeof(float);
          require_memory("the list of rows within the radius",
                         held_bytes += kBytes * static_cast<Index>(keys.size()), left_bytes);
          balls[usize(first_query + query)].assign(keys.begin(), keys.end());
        });
  });
  Balls result;
  result.begin.push_back(0);
  for (const auto& ball : balls)
    result.begin.push_back(result.begin.back() + static_cast<Index>(ball.size()));
  result.rows.resize(usize(result.begin.back()));
  result.squared_distances.resize(usize(result.begin.back()));
  parallel_ranges(static_cast<Index>(balls.size()), 64, [&](Index begin, Index end) {
    for (Index q = begin; q < end; ++q) {
      Index at = result.begin[usize(q)];
      for (const NeighborKey key : balls[usize(q)]) {
        result.rows[usize(at)] = key_row(key);
        result.squared_distances[usize(at)] = space_->reported(key_distance(key));
        ++at;
      }
    }
  });
  return result;
}

Balls NeighborIndex::within(const Matrix& queries, double squared_radius,
                            const RunControl& control) const {
  return within(queries, all_rows(queries), squared_radius, control);
}

std::vector<std::uint8_t> NeighborIndex::any_within(const Matrix& queries,
                                                    std::span<const Index> rows,
                                                    double squared_radius,
                                                    const RunControl& control) const {
  std::vector<std::uint8_t> result(rows.size(), 0);
  const float limit = space_->internal_limit(squared_radius);
  if (limit < 0) return result;
  for_each_batch(queries, rows, control, [&](const QueryBatch& batch, Index first_query) {
    run_groups(
        batch, [&](Candidates& candidates) { candidates.start_any(limit); },
        [&](Index query, Candidates& candidates) {
          result[usize(first_query + query)] = candidates.found_any() ? 1 : 0;
        });
  });
  return result;
}

void NeighborIndex::mark_within(const Matrix& queries, std::span<const Index> rows, float limit,
                                std::span<std::uint8_t> marks, const RunControl& control) const {
  TAMIS_CHECK(static_cast<Index>(marks.size()) == num_points());
  if (limit < 0) return;
  for_each_batch(queries, rows, control, [&](const QueryBatch& batch, Index) {
    run_groups(
        batch, [&](Candidates& candidates) { candidates.start_marking(limit, marks.data()); },
        [](Index, Candidates&) {});
  });
}

std::unique_ptr<NeighborIndex> make_neighbor_index(const Matrix& points, const Metric& metric,
                                                   Structure structure, const RunControl& control,
                                                   Index expected_k) {
  auto space = std::make_shared<const Space>(metric, points);
  if (structure == Structure::automatic)
    structure = fastest_structure(*space, control, std::max<Index>(expected_k, 1));
  return make_structure(std::move(space), structure, control);
}

}  // namespace tamis

// Exact neighbour search. Every structure gives the same answer to the last bit, because all of
// them order rows by one computed distance (distances.hpp) and then by row number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// Which distance: Euclidean, or that of a kernel's feature space, D^2 = K(x,x) - 2 K(x,z) +
/// K(z,z).
struct Metric {
  std::optional<Kernel> kernel;
  /// Whether sparse points are held dense, which rounds distances differently; not set: the points
  /// decide (better_dense() in distances.hpp). For indexes over parts that must agree.
  std::optional<bool> held_dense = std::nullopt;
};

/// By which local SVMs with this kernel find their neighbors: that of its feature space, but the
/// Euclidean one for laplacian, whose values among far rows are all alike.
inline Metric neighbor_metric(const Kernel& kernel) {
  return kernel.type == KernelType::laplacian ? Metric{} : Metric{kernel};
}

enum class Structure {
  automatic,    ///< measures the others on a sample of the rows
  brute_force,  ///< every row for every query, in SIMD blocks; any metric
  kd_tree,      ///< boxes of rows; where the order is the Euclidean one and rows are held dense
  cover_tree,   ///< balls of rows; any metric whose triangle inequality is known to hold
};

/// The nearest rows of each query, nearest first, flat: query q has the places [q * per_query,
/// (q + 1) * per_query).
struct Neighbors {
  Index per_query = 0;  ///< k, or the number of rows if that is smaller
  std::vector<Index> rows;
  std::vector<float> squared_distances;

  std::span<const Index> rows_of(Index q) const {
    return {rows.data() + q * per_query, static_cast<std::size_t>(per_query)};
  }
  std::span<const float> distances_of(Index q) const {
    return {squared_distances.data() + q * per_query, static_cast<std::size_t>(per_query)};
  }
};

/// The rows within a radius of each query, nearest first, flat: query q has the places
/// [begin[q], begin[q + 1]).
struct Balls {
  std::vector<Index> begin;
  std::vector<Index> rows;
  std::vector<float> squared_distances;

  std::span<const Index> rows_of(Index q) const {
    const auto at = static_cast<std::size_t>(q);
    return {rows.data() + begin[at], static_cast<std::size_t>(begin[at + 1] - begin[at])};
  }
};

class Candidates;
class Space;

/// Queries on their way through a search: rows of a matrix stored like the indexed points.
struct QueryBatch {
  const Matrix& matrix;
  std::span<const Index> rows;  ///< query q is row rows[q] of the matrix
  std::span<const float> self;  ///< K(q, q) where distances come from kernel values, else empty
  const RunControl& control;

  Index size() const { return static_cast<Index>(rows.size()); }
  void poll() const;  ///< throws Cancelled when the caller asked to stop
};

/// An index over the rows of a matrix; immutable, safe to use from many threads at once. Queries
/// run on the threads of the caller's arena (base/parallel.hpp), and throw Cancelled within 100 ms
/// of being asked to.
class NeighborIndex {
 public:
  virtual ~NeighborIndex();
  NeighborIndex(const NeighborIndex&) = delete;
  NeighborIndex& operator=(const NeighborIndex&) = delete;

  virtual Structure structure() const = 0;
  /// Bytes held beside the matrix that was passed in.
  virtual Index size_bytes() const = 0;
  Index num_points() const;

  /// The k nearest points of each of the given rows of `queries` (which has the points' columns),
  /// sorted by distance, then row number. A query that is itself a point finds itself.
  Neighbors nearest(const Matrix& queries, std::span<const Index> rows, Index k,
                    const RunControl& control = {}) const;
  /// The same for every row.
  Neighbors nearest(const Matrix& queries, Index k, const RunControl& control = {}) const;

  /// The points whose squared distance is at most `squared_radius`, sorted in the same way.
  Balls within(const Matrix& queries, std::span<const Index> rows, double squared_radius,
               const RunControl& control = {}) const;
  Balls within(const Matrix& queries, double squared_radius, const RunControl& control = {}) const;

  /// 1 for each of the rows that has a point within the radius, else 0.
  std::vector<std::uint8_t> any_within(const Matrix& queries, std::span<const Index> rows,
                                       double squared_radius, const RunControl& control = {}) const;

  /// marks[p] = 1 for every point p within the radius of one of the rows, for passes that only
  /// strike out points. `limit` is Space::internal_limit().
  void mark_within(const Matrix& queries, std::span<const Index> rows, float limit,
                   std::span<std::uint8_t> marks, const RunControl& control) const;

  const Space& space() const { return *space_; }

 protected:
  explicit NeighborIndex(std::shared_ptr<const Space> space) : space_(std::move(space)) {}

  /// Queries are answered in groups of up to this many.
  virtual Index group_size() const = 0;
  /// The order in which queries are put into groups, so that near ones come together; empty: as
  /// they are.
  virtual std::vector<std::uint32_t> visit_order(const QueryBatch& batch) const = 0;
  /// Offers points to the candidates of each query of a group: all that `Candidates` would keep.
  /// Query queries[i] has found[i].
  virtual void search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
                      std::span<Candidates> found) const = 0;

 private:
  template <typename Body>
  void for_each_batch(const Matrix& queries, std::span<const Index> rows, const RunControl& control,
                      const Body& body) const;
  template <typename Start, typename Finish>
  void run_groups(const QueryBatch& batch, const Start& start, const Finish& finish) const;

  std::shared_ptr<const Space> space_;
};

/// Indexes `points`, which stay shared with the caller. Throws InvalidArgument for a structure that
/// cannot serve the metric, DataError for rows the distance cannot be computed of, ResourceError if
/// the index exceeds the memory left, Cancelled. `expected_k` tells `automatic` what is going to be
/// asked for; it never changes an answer.
std::unique_ptr<NeighborIndex> make_neighbor_index(const Matrix& points, const Metric& metric,
                                                   Structure structure = Structure::automatic,
                                                   const RunControl& control = {},
                                                   Index expected_k = 10);

}  // namespace tamis

#include "neighbors/structures.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "neighbors/brute_force.hpp"
#include "neighbors/cover_tree.hpp"
#include "neighbors/kd_tree.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kFewPoints = 1024;    // nothing beats looking at all of them
constexpr Index kKdTreeFeatures = 4;  // where a kd-tree always wins
constexpr Index kSampledPoints = 24576;
constexpr Index kSampledQueries = 256;

std::vector<Index> evenly_spaced(Index count, Index total) {
  std::vector<Index> rows(usize(std::min(count, total)));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<Index>(i) * total / static_cast<Index>(rows.size());
  return rows;
}

}  // namespace

std::unique_ptr<NeighborIndex> make_structure(std::shared_ptr<const Space> space,
                                              Structure structure, const RunControl& control) {
  const bool empty = space->points().rows() == 0 || space->points().cols() == 0;
  if (structure == Structure::kd_tree) {
    if (!space->uses_differences()) {
      throw InvalidArgument(
          "a kd-tree needs Euclidean order (Euclidean, linear or RBF distance) and rows that are "
          "not very sparse");
    }
    if (!empty) return std::make_unique<KdTree>(std::move(space), control);
  } else if (structure == Structure::cover_tree) {
    if (!space->is_metric()) {
      throw InvalidArgument(
          "a cover tree needs a kernel that is positive semidefinite whatever the rows: linear, "
          "RBF, or polynomial with coef0 >= 0");
    }
    if (!empty) return std::make_unique<CoverTree>(std::move(space), control);
  }
  return std::make_unique<BruteForce>(std::move(space));
}

// A tree only gains on brute force as rows are added, so what wins on the sample wins on the whole.
Structure fastest_structure(const Space& space, const RunControl& control, Index k) {
  const Index n = space.points().rows();
  if (n <= kFewPoints || !space.is_metric()) return Structure::brute_force;
  if (space.uses_differences() && space.points().cols() <= kKdTreeFeatures)
    return Structure::kd_tree;
  const auto sample = space.of_points(evenly_spaced(kSampledPoints, n));
  const Matrix& points = sample->points();
  const std::vector<Index> queries = evenly_spaced(kSampledQueries, points.rows());
  // The sample's neighbourhoods are to hold the share of the rows that the whole's will.
  const auto sampled_k = std::max<Index>(1, k * points.rows() / n);
  Structure best = Structure::brute_force;
  double best_seconds = -1;
  for (const Structure structure :
       {Structure::brute_force,
        space.uses_differences() ? Structure::kd_tree : Structure::cover_tree}) {
    const auto index = make_structure(sample, structure, control);
    double seconds = -1;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Stopwatch watch;
      index->nearest(points, queries, sampled_k, control);
      seconds = seconds < 0 ? watch.seconds() : std::min(seconds, watch.seconds());
    }
    if (best_seconds < 0 || seconds < best_seconds) {
      best = structure;
      best_seconds = seconds;
    }
  }
  return best;
}

}  // namespace tamis

// The definition of the answer, spelled out: every distance, sorted by distance and row number.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "neighbors/distances.hpp"

namespace tamis::testing {

/// Squared distances of one row to all points, one pair at a time.
inline std::vector<float> naive_distances(const Metric& metric, const Matrix& points,
                                          const Matrix& queries, Index row) {
  const Space space(metric, points);
  const Matrix query = space.stored_like_points(queries.select(std::vector<Index>{row}));
  const std::vector<Index> first{0};
  const std::vector<float> self = space.self_values(query, first);
  std::vector<float> result;
  for (Index i = 0; i < points.rows(); ++i) {
    const std::vector<Index> one{i};
    const Distances distances(space, one);
    float out[kPanel];
    distances.evaluate(query, first, self, 0, 1, out, kPanel);
    result.push_back(out[0]);
  }
  return result;
}

struct NaiveAnswer {
  std::vector<Index> rows;
  std::vector<float> squared_distances;
};

inline NaiveAnswer naive_sorted(const Metric& metric, const Matrix& points, const Matrix& queries,
                                Index row) {
  const std::vector<float> distances = naive_distances(metric, points, queries, row);
  NaiveAnswer answer;
  answer.rows.resize(distances.size());
  std::iota(answer.rows.begin(), answer.rows.end(), Index{0});
  std::stable_sort(answer.rows.begin(), answer.rows.end(),
                   [&](Index a, Index b) { return distances[usize(a)] < distances[usize(b)]; });
  const Space space(metric, points);
  for (const Index i : answer.rows)
    answer.squared_distances.push_back(space.reported(distances[usize(i)]));
  return answer;
}

inline NaiveAnswer naive_nearest(const Metric& metric, const Matrix& points, const Matrix& queries,
                                 Index row, Index k) {
  NaiveAnswer answer = naive_sorted(metric, points, queries, row);
  const auto kept = usize(std::min(k, points.rows()));
  answer.rows.resize(kept);
  answer.squared_distances.resize(kept);
  return answer;
}

/// Values of a standard normal distribution, each kept with the given probability, else 0.
inline Matrix random_rows(Index rows, Index cols, double density, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(usize(rows * cols));
  for (float& v : values)
    v = random.uniform() < density ? static_cast<float>(random.normal()) : 0.0F;
  return Matrix::dense(rows, cols, std::move(values));
}

/// Rows on a coarse grid: many copies and many equal distances.
inline Matrix grid_rows(Index rows, Index cols, Index values_per_feature, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(usize(rows * cols));
  for (float& v : values) v = static_cast<float>(random.below(values_per_feature));
  return Matrix::dense(rows, cols, std::move(values));
}

}  // namespace tamis::testing

// How the solver reads and adds rows: one small class for each way a Matrix is stored.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "tamis/dataset.hpp"

namespace tamis::linear {

/// Where a row has its values.
struct Place {
  Index begin = 0;
  std::int32_t length = 0;
};

class SparseRows {
 public:
  static constexpr bool kIsDense = false;

  explicit SparseRows(const Matrix& features)
      : begin_(features.row_offsets().data()),
        columns_(features.sparse_columns().data()),
        values_(features.sparse_values().data()) {}

  Place place(Index row) const {
    return {begin_[row], static_cast<std::int32_t>(begin_[row + 1] - begin_[row])};
  }
  /// Asks for the row's memory ahead of its use.
  void prefetch(const Place& place) const {
    __builtin_prefetch(columns_ + place.begin);
    __builtin_prefetch(values_ + place.begin);
  }
  // Four sums side by side, so that the loop is not one long chain of additions.
  double dot(const Place& place, const double* w) const {
    const std::int32_t* column = columns_ + place.begin;
    const float* value = values_ + place.begin;
    std::array<double, 4> lanes{};
    std::int32_t k = 0;
    for (; k + 4 <= place.length; k += 4) {
      for (std::int32_t l = 0; l < 4; ++l)
        lanes[static_cast<std::size_t>(l)] += w[column[k + l]] * static_cast<double>(value[k + l]);
    }
    for (; k < place.length; ++k) lanes[0] += w[column[k]] * static_cast<double>(value[k]);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
  /// w += step * row
  void add(const Place& place, double step, double* w) const {
    const std::int32_t* column = columns_ + place.begin;
    const float* value = values_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k)
      w[column[k]] += step * static_cast<double>(value[k]);
  }
  /// clipped = max(0, w) in the columns of the row
  void clip(const Place& place, const double* w, double* clipped) const {
    const std::int32_t* column = columns_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k)
      clipped[column[k]] = std::max(0.0, w[column[k]]);
  }
  /// sums += step * row^2, value by value
  void add_squares(const Place& place, double step, double* sums) const {
    const std::int32_t* column = columns_ + place.begin;
    const float* value = values_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k) {
      const auto v = static_cast<double>(value[k]);
      sums[column[k]] += step * v * v;
    }
  }
  /// Lower triangle of matrix += step * row row'; columns ascend.
  void add_outer_product(const Place& place, double step, std::size_t size, double* matrix) const {
    const std::int32_t* column = columns_ + place.begin;
    const float* value = values_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k) {
      double* line = matrix + static_cast<std::size_t>(column[k]) * size;
      const double v = step * static_cast<double>(value[k]);
      for (std::int32_t l = 0; l <= k; ++l) line[column[l]] += v * static_cast<double>(value[l]);
    }
  }
  double squared_norm(const Place& place) const {
    double sum = 0;
    for (Index k = place.begin; k < place.begin + place.length; ++k)
      sum += static_cast<double>(values_[k]) * static_cast<double>(values_[k]);
    return sum;
  }

 private:
  const Index* begin_;
  const std::int32_t* columns_;
  const float* values_;
};

/// Sparse rows whose values are all 1, as indicators are: the columns say everything.
class IndicatorRows {
 public:
  static constexpr bool kIsDense = false;

  explicit IndicatorRows(const Matrix& features)
      : begin_(features.row_offsets().data()), columns_(features.sparse_columns().data()) {}

  Place place(Index row) const {
    return {begin_[row], static_cast<std::int32_t>(begin_[row + 1] - begin_[row])};
  }
  void prefetch(const Place& place) const { __builtin_prefetch(columns_ + place.begin); }
  // The sums are those of SparseRows, and so is the result.
  double dot(const Place& place, const double* w) const {
    const std::int32_t* column = columns_ + place.begin;
    std::array<double, 4> lanes{};
    std::int32_t k = 0;
    for (; k + 4 <= place.length; k += 4) {
      for (std::int32_t l = 0; l < 4; ++l) lanes[static_cast<std::size_t>(l)] += w[column[k + l]];
    }
    for (; k < place.length; ++k) lanes[0] += w[column[k]];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
  void add(const Place& place, double step, double* w) const {
    const std::int32_t* column = columns_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k) w[column[k]] += step;
  }
  void clip(const Place& place, const double* w, double* clipped) const {
    const std::int32_t* column = columns_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k)
      clipped[column[k]] = std::max(0.0, w[column[k]]);
  }
  void add_squares(const Place& place, double step, double* sums) const { add(place, step, sums); }
  void add_outer_product(const Place& place, double step, std::size_t size, double* matrix) const {
    const std::int32_t* column = columns_ + place.begin;
    for (std::int32_t k = 0; k < place.length; ++k) {
      double* line = matrix + static_cast<std::size_t>(column[k]) * size;
      for (std::int32_t l = 0; l <= k; ++l) line[column[l]] += step;
    }
  }
  double squared_norm(const Place& place) const { return static_cast<double>(place.length); }

 private:
  const Index* begin_;
  const std::int32_t* columns_;
};

class DenseRows {
 public:
  static constexpr bool kIsDense = true;

  explicit DenseRows(const Matrix& features)
      : cols_(static_cast<std::int32_t>(features.cols())),
        values_(features.dense_values().data()) {}

  Place place(Index row) const { return {row * cols_, cols_}; }
  void prefetch(const Place& place) const {
    const float* x = values_ + place.begin;
    for (std::int32_t j = 0; j < cols_ && j < kPrefetchedValues; j += kLineValues)
      __builtin_prefetch(x + j);
  }
  double dot(const Place& place, const double* w) const {
    const float* x = values_ + place.begin;
    std::array<double, 8> lanes{};
    std::int32_t j = 0;
    for (; j + 8 <= cols_; j += 8) {
      for (std::int32_t l = 0; l < 8; ++l)
        lanes[static_cast<std::size_t>(l)] += w[j + l] * static_cast<double>(x[j + l]);
    }
    for (; j < cols_; ++j) lanes[0] += w[j] * static_cast<double>(x[j]);
    return std::accumulate(lanes.begin(), lanes.end(), 0.0);
  }
  void add(const Place& place, double step, double* w) const {
    const float* x = values_ + place.begin;
    for (std::int32_t j = 0; j < cols_; ++j) w[j] += step * static_cast<double>(x[j]);
  }
  void clip(const Place& /*place*/, const double* w, double* clipped) const {
    for (std::int32_t j = 0; j < cols_; ++j) clipped[j] = std::max(0.0, w[j]);
  }
  void add_squares(const Place& place, double step, double* sums) const {
    const float* x = values_ + place.begin;
    for (std::int32_t j = 0; j < cols_; ++j)
      sums[j] += step * static_cast<double>(x[j]) * static_cast<double>(x[j]);
  }
  double squared_norm(const Place& place) const {
    const float* x = values_ + place.begin;
    double sum = 0;
    for (std::int32_t j = 0; j < cols_; ++j)
      sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
    return sum;
  }

 private:
  static constexpr std::int32_t kLineValues = 16;         // floats of a cache line
  static constexpr std::int32_t kPrefetchedValues = 512;  // the processor follows by itself
  std::int32_t cols_;
  const float* values_;
};

}  // namespace tamis::linear

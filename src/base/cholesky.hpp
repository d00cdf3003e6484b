// Symmetric positive definite systems of a few hundred unknowns.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace tamis {

/// Eight sums side by side, so that the loop is not one long chain of additions.
inline double dot(const double* a, const double* b, std::size_t count) {
  std::array<double, 8> lanes{};
  std::size_t j = 0;
  for (; j + 8 <= count; j += 8) {
    for (std::size_t k = 0; k < 8; ++k) lanes[k] += a[j + k] * b[j + k];
  }
  for (; j < count; ++j) lanes[j % 8] += a[j] * b[j];
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

/// Row by row, the lower triangle, factored in place.
class Cholesky {
 public:
  /// False when the matrix is not positive definite.
  bool factor(std::vector<double> matrix, std::size_t size) {
    values_ = std::move(matrix);
    size_ = size;
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = j; i < size; ++i) {
        const double sum = at(i, j) - dot(&values_[i * size], &values_[j * size], j);
        if (i > j)
          at(i, j) = sum / at(j, j);
        else if (sum > 0)
          at(j, j) = std::sqrt(sum);
        else
          return false;
      }
    }
    return true;
  }
  std::vector<double> solve(std::vector<double> x) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
      x[i] /= at(i, i);
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) x[i] -= at(k, i) * x[k];
      x[i] /= at(i, i);
    }
    return x;
  }

 private:
  double& at(std::size_t i, std::size_t j) { return values_[i * size_ + j]; }
  double at(std::size_t i, std::size_t j) const { return values_[i * size_ + j]; }

  std::vector<double> values_;
  std::size_t size_ = 0;
};

/// The factor of a matrix to which unknowns are added and from which they are taken, each for about
/// the square of their number.
class ChangingCholesky {
 public:
  std::size_t size() const { return rows_.size(); }

  /// `values`: those of the matrix next to the unknowns before, and on the diagonal. The pivot is
  /// at least `least_pivot` > 0, as if more were on the diagonal.
  void add(std::vector<double> values, double least_pivot) {
    TAMIS_CHECK(values.size() == size() + 1 && least_pivot > 0);
    const std::size_t last = size();
    forward(values);
    const double pivot = values[last] - dot(values.data(), values.data(), last);
    values[last] = std::sqrt(std::max(pivot, least_pivot));
    rows_.push_back(std::move(values));
  }

  // The rows below lose a column each: rotations bring the triangle back.
  void remove(std::size_t gone) {
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(gone));
    std::vector<std::pair<double, double>> rotations;  // cosine and sine, of columns c and c + 1
    for (std::size_t r = gone; r < size(); ++r) {
      std::vector<double>& row = rows_[r];
      for (std::size_t c = gone; c < r; ++c) {
        const auto [cosine, sine] = rotations[c - gone];
        const double left = row[c];
        row[c] = cosine * left + sine * row[c + 1];
        row[c + 1] = cosine * row[c + 1] - sine * left;
      }
      const double length = std::hypot(row[r], row[r + 1]);
      rotations.emplace_back(row[r] / length, row[r + 1] / length);
      row[r] = length;
      row.pop_back();
    }
  }

  std::vector<double> solve(std::vector<double> x) const {
    forward(x);
    for (std::size_t i = size(); i-- > 0;) {
      const double* row = rows_[i].data();
      x[i] /= row[i];
      const double own = x[i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= own * row[k];
    }
    return x;
  }

 private:
  void forward(std::span<double> x) const {
    for (std::size_t i = 0; i < size(); ++i)
      x[i] = (x[i] - dot(rows_[i].data(), x.data(), i)) / rows_[i][i];
  }

  std::vector<std::vector<double>> rows_;  // row i of the factor: i + 1 values
};

}  // namespace tamis

// Symmetric positive definite systems of a few hundred unknowns.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

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

}  // namespace tamis

#include "data/symmetric_root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "base/checked.hpp"

namespace tamis {
namespace {

constexpr int kMostSweeps = 60;  // ten are usual

// Cyclic Jacobi rotations: the matrix becomes diagonal, `vectors` its eigenvectors, as rows.
class Jacobi {
 public:
  Jacobi(std::vector<double> matrix, std::size_t n)
      : n_(n), matrix_(std::move(matrix)), vectors_(n * n, 0.0) {
    for (std::size_t i = 0; i < n; ++i) vectors_[i * n + i] = 1;
  }

  void run() {
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool is_diagonal = true;
      for (std::size_t p = 0; p < n_; ++p) {
        for (std::size_t q = p + 1; q < n_; ++q) is_diagonal = !rotate(p, q) && is_diagonal;
      }
      if (is_diagonal) return;
    }
  }

  double value(std::size_t i) const { return matrix_[i * n_ + i]; }
  const double* vector(std::size_t i) const { return &vectors_[i * n_]; }

 private:
  // Makes element (p, q) zero; whether it was more than rounding.
  bool rotate(std::size_t p, std::size_t q) {
    const double element = matrix_[p * n_ + q];
    const double size = std::abs(matrix_[p * n_ + p]) + std::abs(matrix_[q * n_ + q]);
    if (std::abs(element) <= std::numeric_limits<double>::epsilon() * size) return false;
    const double theta = (matrix_[q * n_ + q] - matrix_[p * n_ + p]) / (2 * element);
    const double tangent =
        (theta < 0 ? -1.0 : 1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(tangent * tangent + 1);
    const double s = tangent * c;
    turn(&matrix_[p * n_], &matrix_[q * n_], 1, c, s);
    turn(&matrix_[p], &matrix_[q], n_, c, s);
    turn(&vectors_[p * n_], &vectors_[q * n_], 1, c, s);
    matrix_[p * n_ + q] = matrix_[q * n_ + p] = 0;
    return true;
  }

  void turn(double* a, double* b, std::size_t step, double c, double s) const {
    for (std::size_t k = 0; k < n_; ++k) {
      const double x = a[k * step];
      const double y = b[k * step];
      a[k * step] = c * x - s * y;
      b[k * step] = s * x + c * y;
    }
  }

  std::size_t n_;
  std::vector<double> matrix_;
  std::vector<double> vectors_;
};

}  // namespace

std::vector<double> matrix_product(const std::vector<double>& a, const std::vector<double>& b,
                                   Index size) {
  const std::size_t n = usize(size);
  TAMIS_CHECK(a.size() == n * n && b.size() == n * n);
  std::vector<double> product(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) product[i * n + j] += factor * b[k * n + j];
    }
  }
  return product;
}

std::vector<double> symmetric_root(std::vector<double> matrix, Index size) {
  const std::size_t n = usize(size);
  TAMIS_CHECK(matrix.size() == n * n);
  Jacobi jacobi(std::move(matrix), n);
  jacobi.run();
  std::vector<double> root(n * n, 0.0);
  for (std::size_t v = 0; v < n; ++v) {
    const double value = std::sqrt(std::max(0.0, jacobi.value(v)));
    const double* vector = jacobi.vector(v);
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = value * vector[i];
      for (std::size_t j = 0; j < n; ++j) root[i * n + j] += factor * vector[j];
    }
  }
  return root;
}

}  // namespace tamis

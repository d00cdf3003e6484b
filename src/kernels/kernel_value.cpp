#include "kernels/kernel_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/parallel.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

struct Sums {
  double dot = 0;
  double squared_distance = 0;
  double l1_distance = 0;

  void add(double x, double z) {
    dot += x * z;
    squared_distance += (x - z) * (x - z);
    l1_distance += std::abs(x - z);
  }
};

Sums sum_sparse(const SparseRow& x, const SparseRow& z) {
  Sums sums;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.columns.size() || j < z.columns.size()) {
    const bool take_x =
        j == z.columns.size() || (i < x.columns.size() && x.columns[i] <= z.columns[j]);
    const bool take_z =
        i == x.columns.size() || (j < z.columns.size() && z.columns[j] <= x.columns[i]);
    sums.add(take_x ? static_cast<double>(x.values[i]) : 0.0,
             take_z ? static_cast<double>(z.values[j]) : 0.0);
    i += take_x ? 1 : 0;
    j += take_z ? 1 : 0;
  }
  return sums;
}

Sums sum_any(const Matrix& a, Index row_a, const Matrix& b, Index row_b) {
  if (a.is_sparse() && b.is_sparse()) return sum_sparse(a.sparse_row(row_a), b.sparse_row(row_b));
  TAMIS_CHECK(a.cols() == b.cols());
  Sums sums;
  if (!a.is_sparse() && !b.is_sparse()) {
    const auto x = a.dense_row(row_a);
    const auto z = b.dense_row(row_b);
    for (std::size_t j = 0; j < x.size(); ++j)
      sums.add(static_cast<double>(x[j]), static_cast<double>(z[j]));
    return sums;
  }
  for (Index j = 0; j < a.cols(); ++j)
    sums.add(static_cast<double>(a.at(row_a, j)), static_cast<double>(b.at(row_b, j)));
  return sums;
}

double from_sums(const Kernel& kernel, const Sums& sums) {
  switch (kernel.type) {
    case KernelType::rbf:
      return std::exp(-kernel.gamma * sums.squared_distance);
    case KernelType::laplacian:
      return std::exp(-kernel.gamma * sums.l1_distance);
    case KernelType::polynomial:
      return std::pow(kernel.gamma * sums.dot + kernel.coef0, kernel.degree);
    case KernelType::sigmoid:
      return std::tanh(kernel.gamma * sums.dot + kernel.coef0);
    default:
      return sums.dot;
  }
}

double squared_norm(const Matrix& rows, Index i) {
  double sum = 0;
  for (const float v : rows.is_sparse() ? rows.sparse_row(i).values : rows.dense_row(i)) {
    sum += static_cast<double>(v) * static_cast<double>(v);
  }
  return sum;
}

}  // namespace

double kernel_value(const Kernel& kernel, const Matrix& a, Index row_a, const Matrix& b,
                    Index row_b) {
  if (kernel.type == KernelType::precomputed) {
    const auto serial = static_cast<Index>(b.at(row_b, 0));
    TAMIS_CHECK(serial >= 1 && serial < a.cols());
    return static_cast<double>(a.at(row_a, serial));
  }
  return from_sums(kernel, sum_any(a, row_a, b, row_b));
}

KernelSlope kernel_slope(const Kernel& kernel, double inner_product, double squared_distance) {
  const double value =
      from_sums(kernel, {.dot = inner_product, .squared_distance = squared_distance});
  switch (kernel.type) {
    case KernelType::rbf:
      return {-2 * kernel.gamma * value, 2 * kernel.gamma * value};
    case KernelType::polynomial:
      return {0, kernel.degree * kernel.gamma *
                     std::pow(kernel.gamma * inner_product + kernel.coef0, kernel.degree - 1)};
    case KernelType::sigmoid:
      return {0, kernel.gamma * (1 - value * value)};
    default:
      TAMIS_CHECK(kernel.type == KernelType::linear);
      return {0, 1};
  }
}

double laplacian_slope(const Kernel& kernel, double l1_distance) {
  TAMIS_CHECK(kernel.type == KernelType::laplacian);
  return kernel.gamma * from_sums(kernel, {.l1_distance = l1_distance});
}

std::vector<double> kernel_diagonal(const Kernel& kernel, const Matrix& data,
                                    std::span<const Index> rows) {
  std::vector<double> result(rows.size());
  kernel_diagonal(kernel, data, rows, result);
  return result;
}

void kernel_diagonal(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
                     std::span<double> result) {
  std::fill(result.begin(), result.end(), 1.0);
  if (kernel.type == KernelType::rbf || kernel.type == KernelType::laplacian) return;
  parallel_ranges(static_cast<Index>(rows.size()), 1024, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const Index row = rows[static_cast<std::size_t>(k)];
      result[static_cast<std::size_t>(k)] =
          kernel.type == KernelType::precomputed
              ? kernel_value(kernel, data, row, data, row)
              : from_sums(kernel, {.dot = squared_norm(data, row)});
    }
  });
}

void require_representable(const Kernel& kernel, const Matrix& rows) {
  if (kernel.type == KernelType::rbf || kernel.type == KernelType::laplacian ||
      kernel.type == KernelType::sigmoid)
    return;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (kernel.type == KernelType::precomputed) {
      const float serial = rows.at(i, 0);
      if (serial >= 1 && serial < static_cast<float>(rows.cols()) && serial == std::floor(serial))
        continue;
      throw DataError(fmt::format(
          "row {}: column 0 of a precomputed kernel must be the row's number, 1 to {}; it is {}",
          rows.row_number(i), rows.cols() - 1, serial));
    }
    const double norm = squared_norm(rows, i);
    const double largest =
        kernel.type == KernelType::linear
            ? norm
            : std::pow(kernel.gamma * norm + std::abs(kernel.coef0), kernel.degree);
    if (largest < 1e36) continue;
    throw DataError(fmt::format(
        "row {} gives a kernel value of about {:.3g}, too large for float32: scale the data",
        rows.row_number(i), largest));
  }
}

}  // namespace tamis

#include "kernels/kernel_blocks.hpp"

#include <cmath>

#include "base/check.hpp"

namespace tamis {

struct KernelBlocks::Impl {
  Kernel kernel;
  Matrix points;
};

KernelBlocks::KernelBlocks(const Kernel& kernel, const Matrix& points)
    : impl_(std::make_unique<Impl>(Impl{kernel, points})) {}
KernelBlocks::KernelBlocks(const Kernel& kernel, const Matrix& points, std::span<const Index> rows)
    : KernelBlocks(kernel, points.select(rows)) {}
KernelBlocks::~KernelBlocks() = default;
KernelBlocks::KernelBlocks(KernelBlocks&&) noexcept = default;
KernelBlocks& KernelBlocks::operator=(KernelBlocks&&) noexcept = default;

Index KernelBlocks::num_points() const { return impl_->points.rows(); }
Index KernelBlocks::size_bytes() const { return impl_->points.size_bytes(); }
const Kernel& KernelBlocks::kernel() const { return impl_->kernel; }

void KernelBlocks::evaluate(const Matrix& queries, std::span<const Index> rows, Index begin,
                            Index end, float* out, Index stride) const {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (Index c = begin; c < end; ++c) {
      out[static_cast<Index>(r) * stride + c - begin] =
          static_cast<float>(kernel_value(impl_->kernel, queries, rows[r], impl_->points, c));
    }
  }
}

std::vector<double> KernelBlocks::diagonal() const {
  std::vector<double> result;
  for (Index i = 0; i < num_points(); ++i) {
    result.push_back(kernel_value(impl_->kernel, impl_->points, i, impl_->points, i));
  }
  return result;
}

void accumulate_rows(const float* values, Index stride, std::span<const double> coefficients,
                     Index count, double* sums) {
  for (std::size_t r = 0; r < coefficients.size(); ++r) {
    for (Index c = 0; c < count; ++c)
      sums[c] += coefficients[r] * static_cast<double>(values[static_cast<Index>(r) * stride + c]);
  }
}

double kernel_value(const Kernel& kernel, const Matrix& a, Index row_a, const Matrix& b,
                    Index row_b) {
  if (kernel.type == KernelType::precomputed) {
    const auto serial = static_cast<Index>(b.at(row_b, 0));
    TAMIS_CHECK(serial >= 1 && serial < a.cols());
    return static_cast<double>(a.at(row_a, serial));
  }
  std::vector<float> x(static_cast<std::size_t>(a.cols()));
  std::vector<float> z(static_cast<std::size_t>(b.cols()));
  TAMIS_CHECK(x.size() == z.size());
  a.copy_row(row_a, x);
  b.copy_row(row_b, z);
  double dot = 0;
  double squared_distance = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double difference = static_cast<double>(x[j]) - static_cast<double>(z[j]);
    dot += static_cast<double>(x[j]) * static_cast<double>(z[j]);
    squared_distance += difference * difference;
  }
  switch (kernel.type) {
    case KernelType::rbf:
      return std::exp(-kernel.gamma * squared_distance);
    case KernelType::polynomial:
      return std::pow(kernel.gamma * dot + kernel.coef0, kernel.degree);
    case KernelType::sigmoid:
      return std::tanh(kernel.gamma * dot + kernel.coef0);
    default:
      return dot;
  }
}

}  // namespace tamis

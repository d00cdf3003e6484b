#include "model/precise_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

// Half a last bit of float, what a kernel value is off by at least.
constexpr double kFloatRounding = 6e-8;

void values_in_double(const KernelExpansion& expansion, const Matrix& rows,
                      std::span<double> values, const RunControl& control) {
  const Index machines = expansion.num_machines();
  const Matrix vectors = matching_vectors(expansion, rows);
  std::vector<std::vector<double>> coefficients;
  for (Index m = 0; m < machines; ++m) coefficients.push_back(coefficients_of(expansion, m));
  ProgressMeter meter(control, "check", rows.rows());
  parallel_ranges(rows.rows(), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double* out = values.data() + i * machines;
      for (Index m = 0; m < machines; ++m) out[m] = expansion.parts().offsets[usize(m)];
      for (Index s = 0; s < vectors.rows(); ++s) {
        const double k = kernel_value(expansion.kernel(), rows, i, vectors, s);
        for (Index m = 0; m < machines; ++m) out[m] += coefficients[usize(m)][usize(s)] * k;
      }
      meter.add(1);
    }
  });
}

}  // namespace

std::vector<double> coefficients_of(const KernelExpansion& expansion, Index m) {
  std::vector<double> result(usize(expansion.num_support_vectors()), 0.0);
  for (const Segment& segment : expansion.segments(m)) {
    for (Index s = segment.sv_begin; s < segment.sv_end; ++s)
      result[usize(s)] =
          expansion.parts().coefficients[usize(segment.coefficient_begin + s - segment.sv_begin)];
  }
  return result;
}

double float_error(const KernelExpansion& expansion, const Matrix& rows,
                   std::span<const double> coefficients) {
  const Kernel& kernel = expansion.kernel();
  if (kernel.type == KernelType::precomputed || expansion.is_collapsed()) return 0;
  std::vector<Index> all(usize(expansion.num_support_vectors()));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> diagonal = kernel_diagonal(kernel, expansion.support_vectors(), all);
  double relative = kFloatRounding;
  if (kernel.type == KernelType::polynomial) relative *= kernel.degree;
  if (kernel.type == KernelType::rbf && rows.is_sparse()) {
    // Distances come from |x|^2 + |z|^2 - 2 <x, z>.
    Kernel linear{KernelType::linear};
    const auto norms = kernel_diagonal(linear, expansion.support_vectors(), all);
    const double largest = norms.empty() ? 0 : *std::max_element(norms.begin(), norms.end());
    relative = std::max(relative, 4 * kFloatRounding * largest * kernel.gamma);
  }
  if (kernel.type == KernelType::laplacian && rows.is_sparse()) {
    // Likewise from |x|_1 + |z|_1.
    const Matrix vectors = expansion.support_vectors().to_sparse();
    double largest = 0;
    for (Index s = 0; s < vectors.rows(); ++s) {
      double norm = 0;
      for (const float v : vectors.sparse_row(s).values) norm += std::abs(static_cast<double>(v));
      largest = std::max(largest, norm);
    }
    relative = std::max(relative, 4 * kFloatRounding * largest * kernel.gamma);
  }
  double squares = 0;
  for (std::size_t s = 0; s < all.size(); ++s)
    squares += coefficients[s] * coefficients[s] * diagonal[s] * diagonal[s];
  return 2 * relative * std::sqrt(squares);
}

Index values_at_once(const KernelExpansion& expansion) {
  constexpr Index kMostValues = Index{1} << 20;        // 8 MiB
  constexpr Index kMostKernelValues = Index{1} << 29;  // less than a second
  const Index rows =
      std::min(kMostValues / std::max<Index>(1, expansion.num_machines()),
               kMostKernelValues / std::max<Index>(1, expansion.num_support_vectors()));
  return std::max<Index>(256, rows);
}

std::vector<double> squared_norms(const KernelExpansion& expansion, const Matrix& rows,
                                  bool in_double, const RunControl& control) {
  const Matrix vectors = matching_vectors(expansion, rows);
  const Index machines = expansion.num_machines();
  const Index step = values_at_once(expansion);
  std::vector<double> sums(usize(machines), 0.0);
  std::vector<double> values;
  for (Index begin = 0; begin < vectors.rows(); begin += step) {
    const Index end = std::min(begin + step, vectors.rows());
    values.resize(usize(checked_product(end - begin, machines)));
    expansion_values(expansion, vectors.slice(begin, end), in_double, values, quiet(control));
    for (Index m = 0; m < machines; ++m) {
      const double offset = expansion.parts().offsets[usize(m)];
      for (const Segment& segment : expansion.segments(m)) {
        for (Index s = std::max(begin, segment.sv_begin); s < std::min(end, segment.sv_end); ++s) {
          const Index place = segment.coefficient_begin + s - segment.sv_begin;
          sums[usize(m)] += expansion.parts().coefficients[usize(place)] *
                            (values[usize((s - begin) * machines + m)] - offset);
        }
      }
    }
  }
  for (double& sum : sums) sum = std::max(0.0, sum);
  return sums;
}

Matrix matching_vectors(const KernelExpansion& expansion, const Matrix& rows) {
  if (expansion.kernel().type == KernelType::precomputed) return expansion.support_vectors();
  const Matrix& vectors = expansion.support_vectors();
  return rows.is_sparse() ? vectors.to_sparse().with_cols(rows.cols())
                          : vectors.to_dense().with_cols(rows.cols());
}

void expansion_values(const KernelExpansion& expansion, const Matrix& rows, bool in_double,
                      std::span<double> values, const RunControl& control) {
  if (in_double)
    values_in_double(expansion, rows, values, control);
  else
    expansion.decision_values(rows, values, control);
}

}  // namespace tamis

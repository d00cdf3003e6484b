// Blocks of kernel values: the primitive that training, prediction and neighbour search are made
// of.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// Points are handled in panels of this many.
inline constexpr Index kPanel = 16;

/// Kernel values between any rows and a fixed set of points. Immutable; safe to use from many
/// threads at once. K(x, z) is the same to the last bit whichever of x and z is the point.
class KernelBlocks {
 public:
  /// Packs `points` for the SIMD code (a copy when dense; sparse points are shared).
  KernelBlocks(const Kernel& kernel, const Matrix& points);
  /// The same for the given rows of `points`, in that order.
  KernelBlocks(const Kernel& kernel, const Matrix& points, std::span<const Index> rows);
  ~KernelBlocks();
  KernelBlocks(KernelBlocks&&) noexcept;
  KernelBlocks& operator=(KernelBlocks&&) noexcept;

  Index num_points() const;
  Index size_bytes() const;
  const Kernel& kernel() const;

  /// out[r * stride + c - begin] = K(queries row rows[r], point c) for c in [begin, end). `begin`
  /// is a multiple of kPanel; `stride` is at least end - begin rounded up to kPanel, and what lies
  /// between is overwritten with unspecified finite values. `queries` must have as many columns as
  /// the points.
  void evaluate(const Matrix& queries, std::span<const Index> rows, Index begin, Index end,
                float* out, Index stride) const;

  /// K(x, x) of every point, in double.
  std::vector<double> diagonal() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// sums[c] += sum over r of coefficients[r] * values[r * stride + c] for c in [0, count),
/// accumulated in double.
void accumulate_rows(const float* values, Index stride, std::span<const double> coefficients,
                     Index count, double* sums);

/// One kernel value in double precision, straight from the formula: the reference for tests and for
/// `certify`.
double kernel_value(const Kernel& kernel, const Matrix& a, Index row_a, const Matrix& b,
                    Index row_b);

}  // namespace tamis

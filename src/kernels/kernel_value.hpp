// Single kernel values in double precision, straight from the formula: the reference that the block
// code is tested against, and what independent checks of a solution are made of.
#pragma once

#include <span>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

double kernel_value(const Kernel& kernel, const Matrix& a, Index row_a, const Matrix& b,
                    Index row_b);

/// The gradient of K(x, z) along x is along_z * z + along_x * x, for kernels of an inner product or
/// of a Euclidean distance.
struct KernelSlope {
  double along_x = 0;
  double along_z = 0;
};
/// From the two numbers that such a kernel is made of. Not for precomputed and Laplacian kernels.
KernelSlope kernel_slope(const Kernel& kernel, double inner_product, double squared_distance);
/// The gradient of the Laplacian K(x, z) along x_j is this times the sign of z_j - x_j.
double laplacian_slope(const Kernel& kernel, double l1_distance);

/// K(x, x) of the chosen rows.
std::vector<double> kernel_diagonal(const Kernel& kernel, const Matrix& data,
                                    std::span<const Index> rows);
/// The same into `result`, which has a place for each.
void kernel_diagonal(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
                     std::span<double> result);

/// Throws DataError when a kernel value can exceed what float32 holds (huge features under a linear
/// or polynomial kernel), saying to scale the data; or when a precomputed row number is out of
/// range.
void require_representable(const Kernel& kernel, const Matrix& rows);

}  // namespace tamis

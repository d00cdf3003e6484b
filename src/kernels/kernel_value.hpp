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

/// K(x, x) of the chosen rows.
std::vector<double> kernel_diagonal(const Kernel& kernel, const Matrix& data,
                                    std::span<const Index> rows);

/// Throws DataError when a kernel value can exceed what float32 holds (huge features under a linear
/// or polynomial kernel), saying to scale the data; or when a precomputed row number is out of
/// range.
void require_representable(const Kernel& kernel, const Matrix& rows);

}  // namespace tamis

// The square root of a symmetric matrix.
#pragma once

#include <vector>

#include "tamis/dataset.hpp"

namespace tamis {

/// Of two n x n matrices, row by row.
std::vector<double> matrix_product(const std::vector<double>& a, const std::vector<double>& b,
                                   Index n);

/// The symmetric matrix without negative eigenvalues whose square is this symmetric n x n matrix,
/// given row by row. Negative eigenvalues, which rounding leaves, count as 0. By Jacobi's method:
/// n = 300 takes about a second.
std::vector<double> symmetric_root(std::vector<double> matrix, Index n);

}  // namespace tamis

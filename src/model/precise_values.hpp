// Decision values of a kernel expansion for checking an answer: how far float32 kernel values may
// be off, and the values from the formula in double where that is too much.
#pragma once

#include <span>
#include <vector>

#include "model/kernel_expansion.hpp"

namespace tamis {

/// The coefficient of every support vector in machine m; 0 where it has none.
std::vector<double> coefficients_of(const KernelExpansion& expansion, Index m);

/// Estimate of the error of decision values made of float32 kernel values: independent roundings.
/// 0 where no kernel value is rounded.
double float_error(const KernelExpansion& expansion, const Matrix& rows,
                   std::span<const double> coefficients);

/// values[i * machines + m]: from float32 kernel values as in predicting, or in double at ten times
/// the cost. Throws Cancelled.
void expansion_values(const KernelExpansion& expansion, const Matrix& rows, bool in_double,
                      std::span<double> values, const RunControl& control);

/// |w|^2 of machine m = sum of coefficient * (f(support vector) - offset), from the values of
/// expansion_values at the support vectors.
double squared_norm(const KernelExpansion& expansion, std::span<const double> coefficients, Index m,
                    std::span<const double> values_at_vectors);

/// Support vectors in the storage and width of the rows.
Matrix matching_vectors(const KernelExpansion& expansion, const Matrix& rows);

}  // namespace tamis

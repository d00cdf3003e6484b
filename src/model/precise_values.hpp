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

/// |w|^2 of every machine = sum of coefficient * (f(support vector) - offset), the support vectors
/// stored as `rows` are. Throws Cancelled.
std::vector<double> squared_norms(const KernelExpansion& expansion, const Matrix& rows,
                                  bool in_double, const RunControl& control);

/// So many rows have their values computed at once by whoever goes through them in blocks: few
/// enough to be told of progress and to take little memory.
Index values_at_once(const KernelExpansion& expansion);

/// Support vectors in the storage and width of the rows.
Matrix matching_vectors(const KernelExpansion& expansion, const Matrix& rows);

}  // namespace tamis

// How strongly the decision values of a kernel expansion depend on each feature.
#pragma once

#include <vector>

#include "model/kernel_expansion.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// The mean over the rows, and over the binary SVMs, of the squared derivative of the decision
/// value along each column: the diagonal of the average gradient outer product (Radhakrishnan et
/// al., "Mechanism for feature learning in neural networks and backpropagation-free machine
/// learning models", Science 383, 2024), in closed form. Rows are scaled, as the machine has them.
/// Not for precomputed kernels. Throws Cancelled, and ResourceError when the sums over the columns
/// do not fit into the memory budget.
std::vector<double> mean_squared_gradients(const KernelExpansion& machine, const Matrix& rows,
                                           const RunControl& control);

/// The whole average gradient outer product, columns x columns numbers row by row: the mean of the
/// products of two derivatives of the same decision value. Symmetric. Throws as above.
std::vector<double> mean_gradient_products(const KernelExpansion& machine, const Matrix& rows,
                                           const RunControl& control);

/// Multiplications that one row of it takes, about; `products`: of mean_gradient_products.
double gradient_work(const KernelExpansion& machine, bool products = false);

}  // namespace tamis

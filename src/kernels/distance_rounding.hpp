// How exact float32 distances are that come from norms and inner products, and what that does to
// training.
#pragma once

#include "tamis/kernel.hpp"

namespace tamis {

/// Standard deviation of the rounding of |x|^2 + |z|^2 - 2<x, z> (Laplacian kernel: of the L1
/// distance) for sparse rows of this norm with so many values, and for dense rows of so many
/// columns.
double sparse_distance_rounding(double norm, double values_per_row);
double dense_distance_rounding(double norm, double columns);

/// Whether such a rounding of distances may show next to the tolerance of the KKT conditions, where
/// coefficients are at most `largest_cost`.
bool shows_in_conditions(double rounding, const Kernel& kernel, double largest_cost, double eps);

}  // namespace tamis

#include "kernels/distance_rounding.hpp"

#include <cmath>

namespace tamis {
namespace {

constexpr double kUnit = 0x1p-24;  // a rounding is at most so much of its result; its square is a
                                   // third of that squared on average

}  // namespace

// The norms N are rounded once each, their sum (2 N) once, and twice the product n times, while it
// grows from 0 to N, so that its square is N^2 / 3 on average.
double sparse_distance_rounding(double norm, double values_per_row) {
  return kUnit * norm * std::sqrt((1 + 1 + 4 + 4 * values_per_row / 3) / 3);
}

// Here the norms are rounded like the product, n times each.
double dense_distance_rounding(double norm, double columns) {
  return kUnit * norm * std::sqrt((4 + (1 + 1 + 4) * columns / 3) / 3);
}

// The rounding r of a distance becomes a relative one of gamma r in the kernel value, and of C
// gamma r in the decision value of a row that has one bounded support vector close by; where it has
// more, their roundings have either sign. A KKT violation is the difference of two decision values,
// and the largest of some 10,000 differences is near four standard deviations.
bool shows_in_conditions(double rounding, const Kernel& kernel, double largest_cost, double eps) {
  return 4 * std::sqrt(2.0) * largest_cost * kernel.gamma * rounding > 0.5 * eps;
}

}  // namespace tamis

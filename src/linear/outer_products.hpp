// Sums of z z' over rows z, for normal equations.
#pragma once

#include <array>
#include <cstddef>

namespace tamis::linear {

inline constexpr std::size_t kRowsAtOnce = 4;  // outer products are added this many at a time

/// Adds to the lower triangle of `matrix` those of kRowsAtOnce dense rows of `size` values.
inline void add_outer_products(const double* block, std::size_t size, double* matrix) {
  const std::array<const double*, kRowsAtOnce> z{block, block + size, block + 2 * size,
                                                 block + 3 * size};
  for (std::size_t j = 0; j < size; ++j) {
    const double z0 = z[0][j];
    const double z1 = z[1][j];
    const double z2 = z[2][j];
    const double z3 = z[3][j];
    if (z0 == 0 && z1 == 0 && z2 == 0 && z3 == 0) continue;  // sparse rows
    double* row = matrix + j * size;
    for (std::size_t k = 0; k <= j; ++k)
      row[k] += z0 * z[0][k] + z1 * z[1][k] + z2 * z[2][k] + z3 * z[3][k];
  }
}

}  // namespace tamis::linear

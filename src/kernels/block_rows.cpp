// What is done with the rows of a block once they are there.
#include <algorithm>

#include "base/check.hpp"
#include "kernels/kernel_blocks.hpp"
#include "kernels/simd/tiles.hpp"

namespace tamis {

void mirror(float* block, Index stride, Index begin, Index end, Index columns) {
  for (Index c = 0; c < columns; c += kPanel) {
    simd::transpose(block + c * stride + begin, stride, end - begin, block + begin * stride + c,
                    stride);
  }
}

void accumulate_rows(const float* values, Index stride, std::span<const double> coefficients,
                     Index count, double* sums) {
  const float* rows[64];
  for (std::size_t first = 0; first < coefficients.size(); first += 64) {
    const std::size_t some = std::min<std::size_t>(64, coefficients.size() - first);
    for (std::size_t r = 0; r < some; ++r)
      rows[r] = values + static_cast<Index>(first + r) * stride;
    accumulate_rows({rows, some}, coefficients.subspan(first, some), count, sums);
  }
}

void accumulate_rows(std::span<const float* const> rows, std::span<const double> coefficients,
                     Index count, double* sums) {
  TAMIS_CHECK(rows.size() == coefficients.size());
  simd::accumulate(rows.data(), coefficients.data(), static_cast<Index>(rows.size()), count, sums);
}

}  // namespace tamis

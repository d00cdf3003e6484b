// Inner loops of neighbour search, chosen at run time for the machine's instruction set.
#pragma once

#include <cstdint>

#include "tamis/dataset.hpp"

namespace tamis::simd {

/// Writes (bits of values[i]) << 32 | rows[i] for every i in [0, count) with values[i] <= limit, in
/// order, and returns how many. With rows == nullptr the row of i is first_row + i. `values` is
/// readable up to count rounded up to 16; `out` has room for count.
Index collect_keys(const float* values, Index count, float limit, const std::uint32_t* rows,
                   std::uint32_t first_row, std::uint64_t* out);

/// True if a value of [0, count) is <= limit; `values` as above.
bool any_at_most(const float* values, Index count, float limit);

/// out[16 b + l] = squared distance of point l of a panel of 16 to box b, which is given as `cols`
/// lower and then `cols` upper bounds. The features are summed in the order and with the operations
/// of the distance tiles; rounding is monotone, so this is never above the distance computed
/// between point l and a row inside the box, and equal to it when the box is that row.
void box_distances(const float* panel, Index cols, const float* boxes, Index num_boxes, float* out);

}  // namespace tamis::simd

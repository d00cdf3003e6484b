// The points a search tries.
#pragma once

#include <span>
#include <vector>

#include "base/random.hpp"
#include "tamis/tune.hpp"

namespace tamis {

/// Every combination; the last axis changes fastest. Throws InvalidArgument above a million.
std::vector<std::vector<double>> grid_points(std::span<const TuneAxis> axes);

/// Draws between the smallest and largest value of each axis; `whole` marks axes of whole numbers.
std::vector<std::vector<double>> random_points(std::span<const TuneAxis> axes,
                                               std::span<const std::uint8_t> whole, Index count,
                                               Random& random);

}  // namespace tamis

#pragma once

#include <limits>

namespace tamis {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace tamis

#include <hwy/targets.h>

#include "tamis/system.hpp"

namespace tamis {

// Highway numbers its targets so that the lowest bit set is the best one.
std::string simd_target() {
  const std::int64_t supported = hwy::SupportedTargets();
  return hwy::TargetName(supported & -supported);
}

}  // namespace tamis

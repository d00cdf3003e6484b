#include <hwy/targets.h>

#include "tamis/system.hpp"

namespace tamis {

// Highway numbers its targets so that the lowest bit set is the best one. What the processor could
// do beyond the targets that were compiled in is not used.
std::string simd_target() {
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(supported & -supported);
}

}  // namespace tamis

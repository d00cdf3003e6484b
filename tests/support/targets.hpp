// Runs tests on each instruction set.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cstdint>

#include "kernels/kernel_blocks.hpp"

namespace tamis::testing {

/// Runs the body once for every instruction set that was compiled in and works here.
template <typename Body>
void on_each_target(const Body& body) {
  // Which there are depends on Highway: newer ones have SSE2 as the baseline on x86-64.
  const auto baseline =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(simd_targets())));
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((simd_targets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0 && target != baseline) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(simd_target_name());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace tamis::testing

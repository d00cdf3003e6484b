// Runs tests on each instruction set.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "kernels/kernel_blocks.hpp"

namespace tamis::testing {

/// Runs the body once for every instruction set that was compiled in and works here.
template <typename Body>
void on_each_target(const Body& body) {
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_SCALAR, HWY_NEON}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0 && target != HWY_SCALAR) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(simd_target_name());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace tamis::testing

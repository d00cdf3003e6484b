// Compiled once for each instruction set by Highway's foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>

#include "peak.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums that do not depend on each other: enough to hide the latency, few enough for the registers.
constexpr int kSums = 12;

double MultiplyAdds(long rounds, float* result) {
  const hn::ScalableTag<float> tag;
  hn::Vec<decltype(tag)> sums[kSums];
  for (int s = 0; s < kSums; ++s) sums[s] = hn::Set(tag, static_cast<float>(s));
  const auto factor = hn::Set(tag, 0.999F);
  for (long r = 0; r < rounds; ++r) {
    for (int s = 0; s < kSums; ++s) sums[s] = hn::MulAdd(sums[s], factor, factor);
  }
  for (int s = 1; s < kSums; ++s) sums[0] = hn::Add(sums[0], sums[s]);
  *result = hn::GetLane(sums[0]);
  return static_cast<double>(rounds) * kSums * static_cast<double>(hn::Lanes(tag));
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

HWY_EXPORT(MultiplyAdds);

double measured_peak() {
  constexpr long kRounds = 2'000'000;
  double best = 0;
  for (int trial = 0; trial < 20; ++trial) {  // the clock speeds up with the first ones
    float result = 0;
    const auto start = std::chrono::steady_clock::now();
    const double count = HWY_DYNAMIC_DISPATCH(MultiplyAdds)(kRounds, &result);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (result > 0) best = std::max(best, count / seconds.count());
  }
  return best;
}

}  // namespace tamis
#endif

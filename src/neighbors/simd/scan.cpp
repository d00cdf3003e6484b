// Compiled once for each instruction set by Highway's foreach_target; HWY_DYNAMIC_DISPATCH picks at
// run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/simd/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>

#include "neighbors/simd/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using Vec = hn::Vec<FloatTag>;
constexpr FloatTag kFloats;
constexpr int kVectorLanes = static_cast<int>(hn::MaxLanes(kFloats));
constexpr int kVectors = 16 / kVectorLanes;

HWY_INLINE Vec SmallestOf16(const float* values) {
  auto smallest = hn::LoadU(kFloats, values);
  for (int v = 1; v < kVectors; ++v)
    smallest = hn::Min(smallest, hn::LoadU(kFloats, values + v * kVectorLanes));
  return smallest;
}

// Bit i: values[i] <= limit, for 16 values.
HWY_INLINE std::uint32_t BitsAtMost(const float* values, Vec limit) {
  std::uint32_t bits = 0;
  for (int v = 0; v < kVectors; ++v) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(kFloats, hn::Le(hn::LoadU(kFloats, values + v * kVectorLanes), limit), bytes);
    const std::uint32_t some = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8;
    bits |= some << (v * kVectorLanes);
  }
  return bits;
}

Index CollectKeys(const float* values, Index count, float limit, const std::uint32_t* rows,
                  std::uint32_t first_row, std::uint64_t* out) {
  const auto limits = hn::Set(kFloats, limit);
  Index written = 0;
  for (Index i = 0; i < count; i += 16) {
    if (hn::AllFalse(kFloats, hn::Le(SmallestOf16(values + i), limits))) continue;
    std::uint32_t bits = BitsAtMost(values + i, limits);
    if (count - i < 16) bits &= (1U << (count - i)) - 1U;
    for (; bits != 0; bits &= bits - 1) {
      const Index at = i + std::countr_zero(bits);
      const std::uint32_t row =
          rows != nullptr ? rows[at] : first_row + static_cast<std::uint32_t>(at);
      out[written++] =
          static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(values[at])) << 32 | row;
    }
  }
  return written;
}

bool AnyAtMost(const float* values, Index count, float limit) {
  const auto limits = hn::Set(kFloats, limit);
  Index i = 0;
  for (; i + 16 <= count; i += 16) {
    if (!hn::AllFalse(kFloats, hn::Le(SmallestOf16(values + i), limits))) return true;
  }
  return i < count && (BitsAtMost(values + i, limits) & ((1U << (count - i)) - 1U)) != 0;
}

void BoxDistances(const float* panel, Index cols, const float* boxes, Index num_boxes, float* out) {
  for (Index b = 0; b < num_boxes; ++b) {
    const float* low = boxes + 2 * b * cols;
    const float* high = low + cols;
    Vec sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(kFloats);
    for (Index j = 0; j < cols; ++j) {
      const auto lows = hn::Set(kFloats, low[j]);
      const auto highs = hn::Set(kFloats, high[j]);
      for (int v = 0; v < kVectors; ++v) {
        const auto x = hn::Load(kFloats, panel + j * 16 + v * kVectorLanes);
        const auto outside =
            hn::Max(hn::Max(hn::Sub(lows, x), hn::Sub(x, highs)), hn::Zero(kFloats));
        sums[v] = hn::MulAdd(outside, outside, sums[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sums[v], kFloats, out + b * 16 + v * kVectorLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(CollectKeys);
HWY_EXPORT(AnyAtMost);
HWY_EXPORT(BoxDistances);

Index collect_keys(const float* values, Index count, float limit, const std::uint32_t* rows,
                   std::uint32_t first_row, std::uint64_t* out) {
  return HWY_DYNAMIC_DISPATCH(CollectKeys)(values, count, limit, rows, first_row, out);
}

bool any_at_most(const float* values, Index count, float limit) {
  return HWY_DYNAMIC_DISPATCH(AnyAtMost)(values, count, limit);
}

void box_distances(const float* panel, Index cols, const float* boxes, Index num_boxes,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(BoxDistances)(panel, cols, boxes, num_boxes, out);
}

}  // namespace tamis::simd
#endif

// Rows against boxes around points. Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/box_distances.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/forms-inl.hpp"
#include "kernels/simd/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {

// Squared distance of the value x from [lower, upper], in each lane.
HWY_INLINE Vec OutsideSquared(Vec x, Vec lower, Vec upper) {
  const auto outside = hn::Max(hn::Zero(kFloats), hn::Max(hn::Sub(lower, x), hn::Sub(x, upper)));
  return hn::Mul(outside, outside);
}

void BoxDistances(const float* row, Index cols, const float* panel, float* out) {
  for (int v = 0; v < kVectors; ++v) {
    const float* edges = panel + v * kVectorLanes;
    auto sum = hn::Zero(kFloats);
    for (Index j = 0; j < cols; ++j, edges += 2 * kLanes) {
      sum = hn::Add(sum, OutsideSquared(hn::Set(kFloats, row[j]), hn::Load(kFloats, edges),
                                        hn::Load(kFloats, edges + kLanes)));
    }
    hn::StoreU(sum, kFloats, out + v * kVectorLanes);
  }
}

void SparseBoxDistances(const SparseQuery& row, const float* panel, const float* from_zero,
                        float* out) {
  const auto rounding = hn::Set(kFloats, 1e-5F);
  for (int v = 0; v < kVectors; ++v) {
    const auto base = hn::Load(kFloats, from_zero + v * kVectorLanes);
    auto sum = hn::NegMulAdd(rounding, base, base);
    for (Index k = 0; k < row.count; ++k) {
      const float* edges =
          panel + static_cast<Index>(row.columns[k]) * 2 * kLanes + v * kVectorLanes;
      const auto lower = hn::Load(kFloats, edges);
      const auto upper = hn::Load(kFloats, edges + kLanes);
      sum = hn::Add(sum, hn::Sub(OutsideSquared(hn::Set(kFloats, row.values[k]), lower, upper),
                                 OutsideSquared(hn::Zero(kFloats), lower, upper)));
    }
    hn::StoreU(sum, kFloats, out + v * kVectorLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(BoxDistances);
HWY_EXPORT(SparseBoxDistances);

void box_distances(const float* row, Index cols, const float* panel, float* out) {
  HWY_DYNAMIC_DISPATCH(BoxDistances)(row, cols, panel, out);
}

void sparse_box_distances(const SparseQuery& row, const float* panel, const float* from_zero,
                          float* out) {
  HWY_DYNAMIC_DISPATCH(SparseBoxDistances)(row, panel, from_zero, out);
}

}  // namespace tamis::simd
#endif

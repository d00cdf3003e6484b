// Compiled once for each instruction set by Highway's foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/accumulate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// From column c on, kSums vectors of columns at a time, so that the sums stay in registers over all
// rows; the first column that is left.
template <int kSums>
HWY_INLINE Index AddColumns(const float* const* rows, const double* coefficients, Index num_rows,
                            Index c, Index count, double* sums) {
  const hn::CappedTag<double, 8> doubles;
  const hn::Rebind<float, decltype(doubles)> floats;
  constexpr Index kDoubles = hn::MaxLanes(doubles);
  for (; c + kSums * kDoubles <= count; c += kSums * kDoubles) {
    hn::Vec<decltype(doubles)> totals[kSums];
    for (int v = 0; v < kSums; ++v) totals[v] = hn::LoadU(doubles, sums + c + v * kDoubles);
    for (Index r = 0; r < num_rows; ++r) {
      const auto coefficient = hn::Set(doubles, coefficients[r]);
      for (int v = 0; v < kSums; ++v) {
        const auto values = hn::PromoteTo(doubles, hn::LoadU(floats, rows[r] + c + v * kDoubles));
        totals[v] = hn::MulAdd(coefficient, values, totals[v]);
      }
    }
    for (int v = 0; v < kSums; ++v) hn::StoreU(totals[v], doubles, sums + c + v * kDoubles);
  }
  return c;
}

// Eight sums side by side: one takes four cycles, and two can be begun in each.
void Accumulate(const float* const* rows, const double* coefficients, Index num_rows, Index count,
                double* sums) {
  Index c = AddColumns<8>(rows, coefficients, num_rows, 0, count, sums);
  c = AddColumns<1>(rows, coefficients, num_rows, c, count, sums);
  // One by one with the same operations: a sum must not depend on where its column lies.
  const hn::CappedTag<double, 1> one_double;
  const hn::Rebind<float, decltype(one_double)> one_float;
  for (; c < count; ++c) {
    auto total = hn::LoadU(one_double, sums + c);
    for (Index r = 0; r < num_rows; ++r) {
      const auto value = hn::PromoteTo(one_double, hn::LoadU(one_float, rows[r] + c));
      total = hn::MulAdd(hn::Set(one_double, coefficients[r]), value, total);
    }
    hn::StoreU(total, one_double, sums + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(Accumulate);

void accumulate(const float* const* rows, const double* coefficients, Index num_rows, Index count,
                double* sums) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(rows, coefficients, num_rows, count, sums);
}

}  // namespace tamis::simd
#endif

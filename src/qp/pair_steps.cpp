// Compiled once for each instruction set by Highway's foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "qp/pair_steps.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "qp/pair_steps.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::qp {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, kPairPadding>;

// Kernel values are float; a double solver widens them as it reads.
HWY_INLINE auto LoadKernel(Tag<float> tag, const float* values) { return hn::LoadU(tag, values); }
HWY_INLINE auto LoadKernel(Tag<double> tag, const float* values) {
  return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<float, Tag<double>>(), values));
}

// Running maximum per lane with the place where it was first met.
template <typename Real>
class ArgMax {
 public:
  using V = hn::Vec<Tag<Real>>;

  explicit ArgMax(Real floor) : values_(hn::Set(tag_, floor)), places_(hn::Set(tag_, Real{-1})) {}

  HWY_INLINE void Add(V values, V places) {
    const auto better = hn::Gt(values, values_);
    values_ = hn::IfThenElse(better, values, values_);
    places_ = hn::IfThenElse(better, places, places_);
  }
  // The lane with the largest value, the lowest place among equals.
  HWY_INLINE Index Result(double* value) const {
    constexpr size_t kLanes = hn::MaxLanes(Tag<Real>());
    HWY_ALIGN Real values[kLanes];
    HWY_ALIGN Real places[kLanes];
    hn::Store(values_, tag_, values);
    hn::Store(places_, tag_, places);
    size_t best = 0;
    for (size_t l = 1; l < kLanes; ++l) {
      if (values[l] > values[best] ||
          (values[l] == values[best] && places[l] >= 0 && places[l] < places[best]))
        best = l;
    }
    *value = static_cast<double>(values[best]);
    return static_cast<Index>(places[best]);
  }

 private:
  Tag<Real> tag_;
  V values_;
  V places_;
};

template <typename Real, bool kUpdate>
Extremes Scan(const PairArrays<Real>& arrays, const float* row_i, const float* row_j, double step,
              Index begin, Index end) {
  const Tag<Real> tag;
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));
  Real* sums = arrays.sums;
  const Real* up = arrays.up;
  const Real* down = arrays.down;
  const auto steps = hn::Set(tag, static_cast<Real>(step));
  ArgMax<Real> max_up(-kInfinity);
  auto min_down = hn::Set(tag, kInfinity);
  auto places = hn::Iota(tag, static_cast<Real>(begin));
  const auto advance = hn::Set(tag, static_cast<Real>(kLanes));
  for (Index k = begin; k < end; k += kLanes) {
    auto f = hn::LoadU(tag, sums + k);
    if constexpr (kUpdate) {
      f = hn::MulAdd(steps, hn::Sub(LoadKernel(tag, row_i + k), LoadKernel(tag, row_j + k)), f);
      hn::StoreU(f, tag, sums + k);
    }
    max_up.Add(hn::Sub(hn::LoadU(tag, up + k), f), places);
    min_down = hn::Min(min_down, hn::Sub(hn::LoadU(tag, down + k), f));
    places = hn::Add(places, advance);
  }
  Extremes extremes;
  extremes.argmax_up = max_up.Result(&extremes.max_up);
  extremes.min_down = static_cast<double>(hn::GetLane(hn::MinOfLanes(tag, min_down)));
  return extremes;
}

template <typename Real>
Index Partner(const PairArrays<Real>& arrays, const float* row_i, double up_i, double diagonal_i,
              Index begin, Index end) {
  const Tag<Real> tag;
  constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));
  const Real* sums = arrays.sums;
  const Real* down = arrays.down;
  const Real* diagonal = arrays.diagonal;
  const auto up = hn::Set(tag, static_cast<Real>(up_i));
  const auto diagonal_of_i = hn::Set(tag, static_cast<Real>(diagonal_i));
  const auto minus_two = hn::Set(tag, Real{-2});
  const auto smallest_curvature = hn::Set(tag, Real{1e-12F});
  ArgMax<Real> best(Real{0});
  auto places = hn::Iota(tag, static_cast<Real>(begin));
  const auto advance = hn::Set(tag, static_cast<Real>(kLanes));
  for (Index k = begin; k < end; k += kLanes) {
    // The down score is rounded just as the up score was, so that i itself shows a difference of
    // exactly zero: divided by its zero curvature, anything else would win.
    const auto down_score = hn::Sub(hn::LoadU(tag, down + k), hn::LoadU(tag, sums + k));
    const auto difference = hn::Sub(up, down_score);
    auto curvature = hn::Add(diagonal_of_i, hn::LoadU(tag, diagonal + k));
    curvature = hn::MulAdd(minus_two, LoadKernel(tag, row_i + k), curvature);
    curvature = hn::Max(curvature, smallest_curvature);
    // Where the difference is negative the gain is zeroed, and zero never beats the floor.
    const auto positive = hn::Max(difference, hn::Zero(tag));
    best.Add(hn::Div(hn::Mul(positive, positive), curvature), places);
    places = hn::Add(places, advance);
  }
  double gain = 0;
  return best.Result(&gain);
}

Extremes FindFloat(const PairArrays<float>& arrays, Index begin, Index end) {
  return Scan<float, false>(arrays, nullptr, nullptr, 0, begin, end);
}
Extremes FindDouble(const PairArrays<double>& arrays, Index begin, Index end) {
  return Scan<double, false>(arrays, nullptr, nullptr, 0, begin, end);
}
Extremes UpdateFloat(const PairArrays<float>& arrays, const float* row_i, const float* row_j,
                     double step, Index begin, Index end) {
  return Scan<float, true>(arrays, row_i, row_j, step, begin, end);
}
Extremes UpdateDouble(const PairArrays<double>& arrays, const float* row_i, const float* row_j,
                      double step, Index begin, Index end) {
  return Scan<double, true>(arrays, row_i, row_j, step, begin, end);
}
Index PartnerFloat(const PairArrays<float>& arrays, const float* row_i, double up_i,
                   double diagonal_i, Index begin, Index end) {
  return Partner<float>(arrays, row_i, up_i, diagonal_i, begin, end);
}
Index PartnerDouble(const PairArrays<double>& arrays, const float* row_i, double up_i,
                    double diagonal_i, Index begin, Index end) {
  return Partner<double>(arrays, row_i, up_i, diagonal_i, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis::qp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::qp {

HWY_EXPORT(FindFloat);
HWY_EXPORT(FindDouble);
HWY_EXPORT(UpdateFloat);
HWY_EXPORT(UpdateDouble);
HWY_EXPORT(PartnerFloat);
HWY_EXPORT(PartnerDouble);

template <>
Extremes find_extremes(const PairArrays<float>& arrays, Index begin, Index end) {
  return HWY_DYNAMIC_DISPATCH(FindFloat)(arrays, begin, end);
}
template <>
Extremes find_extremes(const PairArrays<double>& arrays, Index begin, Index end) {
  return HWY_DYNAMIC_DISPATCH(FindDouble)(arrays, begin, end);
}
template <>
Extremes update_and_find_extremes(const PairArrays<float>& arrays, const float* row_i,
                                  const float* row_j, double step, Index begin, Index end) {
  return HWY_DYNAMIC_DISPATCH(UpdateFloat)(arrays, row_i, row_j, step, begin, end);
}
template <>
Extremes update_and_find_extremes(const PairArrays<double>& arrays, const float* row_i,
                                  const float* row_j, double step, Index begin, Index end) {
  return HWY_DYNAMIC_DISPATCH(UpdateDouble)(arrays, row_i, row_j, step, begin, end);
}
template <>
Index find_partner(const PairArrays<float>& arrays, const float* row_i, double up_i,
                   double diagonal_i, Index begin, Index end) {
  return HWY_DYNAMIC_DISPATCH(PartnerFloat)(arrays, row_i, up_i, diagonal_i, begin, end);
}
template <>
Index find_partner(const PairArrays<double>& arrays, const float* row_i, double up_i,
                   double diagonal_i, Index begin, Index end) {
  return HWY_DYNAMIC_DISPATCH(PartnerDouble)(arrays, row_i, up_i, diagonal_i, begin, end);
}

}  // namespace tamis::qp
#endif

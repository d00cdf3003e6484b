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

// A stretch of kPairPadding values is handled as this many vectors side by side: with one alone,
// the running maximum would wait for itself at every step.
template <typename Real>
constexpr int kVectors = static_cast<int>(kPairPadding) /
                         static_cast<int>(hn::MaxLanes(Tag<Real>()));

// Running maximum per lane with the place where it was first met.
template <typename Real>
class ArgMax {
 public:
  using V = hn::Vec<Tag<Real>>;

  ArgMax(Real floor, Index begin) {
    for (int v = 0; v < kVectors<Real>; ++v) {
      values_[v] = hn::Set(tag_, floor);
      best_[v] = hn::Set(tag_, Real{-1});
      here_[v] = hn::Iota(tag_, static_cast<Real>(begin + v * kLanes));
    }
  }

  HWY_INLINE void Add(int v, V values) {
    const auto better = hn::Gt(values, values_[v]);
    values_[v] = hn::IfThenElse(better, values, values_[v]);
    best_[v] = hn::IfThenElse(better, here_[v], best_[v]);
    here_[v] = hn::Add(here_[v], hn::Set(tag_, static_cast<Real>(kPairPadding)));
  }
  // The largest value and the lowest place that has it, -1 if none is above the floor.
  HWY_INLINE Index Result(double* value) const {
    auto all = values_[0];
    for (int v = 1; v < kVectors<Real>; ++v) all = hn::Max(all, values_[v]);
    const auto largest = hn::MaxOfLanes(tag_, all);
    auto places = hn::Set(tag_, std::numeric_limits<Real>::max());
    for (int v = 0; v < kVectors<Real>; ++v) {
      const auto has_it = hn::Eq(values_[v], largest);
      places = hn::IfThenElse(has_it, hn::Min(places, best_[v]), places);
    }
    *value = static_cast<double>(hn::GetLane(largest));
    return static_cast<Index>(hn::GetLane(hn::MinOfLanes(tag_, places)));
  }

 private:
  static constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));

  Tag<Real> tag_;
  V values_[kVectors<Real>];
  V best_[kVectors<Real>];
  V here_[kVectors<Real>];  // places of the next values
};

template <typename Real, bool kUpdate>
Extremes Scan(const PairArrays<Real>& arrays, const float* row_i, const float* row_j, double step,
              Index begin, Index end) {
  const Tag<Real> tag;
  constexpr Real kRealInfinity = std::numeric_limits<Real>::infinity();
  constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));
  Real* sums = arrays.sums;
  const auto steps = hn::Set(tag, static_cast<Real>(step));
  ArgMax<Real> max_up(-kRealInfinity, begin);
  hn::Vec<Tag<Real>> min_down[kVectors<Real>];
  for (auto& one : min_down) one = hn::Set(tag, kRealInfinity);
  for (Index first = begin; first < end; first += kPairPadding) {
    for (int v = 0; v < kVectors<Real>; ++v) {
      const Index k = first + v * kLanes;
      auto f = hn::LoadU(tag, sums + k);
      if constexpr (kUpdate) {
        f = hn::MulAdd(steps, hn::Sub(LoadKernel(tag, row_i + k), LoadKernel(tag, row_j + k)), f);
        hn::StoreU(f, tag, sums + k);
      }
      max_up.Add(v, hn::Sub(hn::LoadU(tag, arrays.up + k), f));
      min_down[v] = hn::Min(min_down[v], hn::Sub(hn::LoadU(tag, arrays.down + k), f));
    }
  }
  for (int v = 1; v < kVectors<Real>; ++v) min_down[0] = hn::Min(min_down[0], min_down[v]);
  Extremes extremes;
  extremes.argmax_up = max_up.Result(&extremes.max_up);
  extremes.min_down = static_cast<double>(hn::GetLane(hn::MinOfLanes(tag, min_down[0])));
  return extremes;
}

template <typename Real>
Index Partner(const PairArrays<Real>& arrays, const float* row_i, double up_i, double diagonal_i,
              Index begin, Index end) {
  const Tag<Real> tag;
  constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));
  const auto up = hn::Set(tag, static_cast<Real>(up_i));
  const auto diagonal_of_i = hn::Set(tag, static_cast<Real>(diagonal_i));
  const auto minus_two = hn::Set(tag, Real{-2});
  const auto smallest_curvature = hn::Set(tag, Real{1e-12F});
  ArgMax<Real> best(Real{0}, begin);
  for (Index first = begin; first < end; first += kPairPadding) {
    for (int v = 0; v < kVectors<Real>; ++v) {
      const Index k = first + v * kLanes;
      // The down score is rounded just as the up score was, so that i itself shows a difference of
      // exactly zero: divided by its zero curvature, anything else would win.
      const auto down_score =
          hn::Sub(hn::LoadU(tag, arrays.down + k), hn::LoadU(tag, arrays.sums + k));
      const auto difference = hn::Sub(up, down_score);
      auto curvature = hn::Add(diagonal_of_i, hn::LoadU(tag, arrays.diagonal + k));
      curvature = hn::MulAdd(minus_two, LoadKernel(tag, row_i + k), curvature);
      curvature = hn::Max(curvature, smallest_curvature);
      // Where the difference is negative the gain is zeroed, and zero never beats the floor.
      const auto positive = hn::Max(difference, hn::Zero(tag));
      best.Add(v, hn::Div(hn::Mul(positive, positive), curvature));
    }
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

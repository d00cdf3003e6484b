// What the loops of this folder share: vectors of floats, and kernel values from sums over
// features. Included once for each instruction set.
#if defined(TAMIS_KERNELS_SIMD_FORMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_KERNELS_SIMD_FORMS_INL_HPP
#undef TAMIS_KERNELS_SIMD_FORMS_INL_HPP
#else
#define TAMIS_KERNELS_SIMD_FORMS_INL_HPP
#endif

#include <hwy/highway.h>

#include "kernels/simd/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, kLanes>;
using Vec = hn::Vec<FloatTag>;
constexpr FloatTag kFloats;
constexpr Index kVectorLanes = hn::MaxLanes(kFloats);
constexpr int kVectors =
    static_cast<int>(kLanes / kVectorLanes);  // vectors that make up one panel row

// Calls run.operator()<kForm>(): the one place where the formula becomes a template argument.
template <typename Run>
HWY_INLINE void ForForm(Form form, const Run& run) {
  switch (form) {
    case Form::dot:
      return run.template operator()<Form::dot>();
    case Form::polynomial:
      return run.template operator()<Form::polynomial>();
    case Form::rbf:
      return run.template operator()<Form::rbf>();
    case Form::sigmoid:
      return run.template operator()<Form::sigmoid>();
    case Form::squared_distance:
      return run.template operator()<Form::squared_distance>();
    case Form::laplacian:
      return run.template operator()<Form::laplacian>();
    case Form::l1_distance:
      return run.template operator()<Form::l1_distance>();
  }
}

// 2^t for t in [floor, 127], 0 below; floor >= -126. The polynomial is the minimax fit of 2^f on
// [-1/2, 1/2] with value exactly 1 at 0, relative error 9.2e-8, so that K(x, x) = 1 exactly for the
// RBF kernel. Adding 1.5 * 2^23 rounds t to a whole number and leaves it in the low bits, from
// where a shift puts it into the exponent.
HWY_INLINE Vec Exp2(Vec t, float floor) {
  const hn::RebindToSigned<FloatTag> ints;
  const auto magic = hn::Set(kFloats, 12582912.0F);
  const auto counts = hn::Ge(t, hn::Set(kFloats, floor));
  const auto shifted = hn::Add(t, magic);
  const auto f = hn::Sub(t, hn::Sub(shifted, magic));
  auto p = hn::Set(kFloats, 0.0013264719920336222F);
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.00967146586967457F));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.05550733343828871F));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.2402224281368314F));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.6931469780754507F));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(ints, shifted));
  return hn::IfThenElseZero(counts, hn::BitCast(kFloats, hn::Add(hn::BitCast(ints, p), exponent)));
}

// tanh(x) = sign(x) (1 - 2 / (1 + e^{2|x|})), written with the decaying exponential so that nothing
// overflows. Near zero the difference 1 - e cancels, so the odd series x - x^3/3 + 2x^5/15 takes
// over.
HWY_INLINE Vec Tanh(Vec x) {
  const auto one = hn::Set(kFloats, 1.0F);
  const auto size = hn::Abs(x);
  const auto e = Exp2(hn::Mul(size, hn::Set(kFloats, -2.8853900817779268F)), -126);
  const auto large = hn::Div(hn::Sub(one, e), hn::Add(one, e));
  const auto x2 = hn::Mul(size, size);
  auto series = hn::MulAdd(x2, hn::Set(kFloats, 2.0F / 15.0F), hn::Set(kFloats, -1.0F / 3.0F));
  series = hn::MulAdd(hn::Mul(series, x2), size, size);
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(kFloats, 0.03F)), series, large), x);
}

HWY_INLINE Vec Power(Vec base, int degree) {
  auto result = hn::Set(kFloats, 1.0F);
  for (; degree > 0; degree >>= 1) {
    if (degree & 1) result = hn::Mul(result, base);
    base = hn::Mul(base, base);
  }
  return result;
}

// Forms of a squared distance, and of an L1 distance; the others are made of an inner product.
constexpr bool IsSquared(Form form) { return form == Form::rbf || form == Form::squared_distance; }
constexpr bool IsL1(Form form) { return form == Form::laplacian || form == Form::l1_distance; }

// What sparse rows x and z have in common in one column: their product, or for L1
// min(|x|, |z|) if both have the same sign, else 0; exact, so that it is symmetric. x is a number,
// given as its size and sign, for L1 only.
template <Form kForm>
HWY_INLINE Vec AddCommon(Vec x, Vec size, Vec sign, Vec z, Vec sum) {
  if constexpr (IsL1(kForm))
    return hn::Add(sum, hn::Min(size, hn::Max(hn::Mul(sign, z), hn::Zero(kFloats))));
  else
    return hn::MulAdd(x, z, sum);
}

// The sum that Finish() wants, from what two rows have in common and their norms.
template <Form kForm>
HWY_INLINE Vec FromCommon(Vec common, Vec norms) {
  if constexpr (IsSquared(kForm) || IsL1(kForm))
    return hn::Max(hn::NegMulAdd(hn::Set(kFloats, 2.0F), common, norms), hn::Zero(kFloats));
  else
    return common;
}

// The kernel value from the sum over features: an inner product or a distance.
template <Form kForm>
HWY_INLINE Vec Finish(const Formula& formula, Vec sum) {
  if constexpr (kForm == Form::rbf || kForm == Form::laplacian) {
    return Exp2(hn::Mul(sum, hn::Set(kFloats, -1.4426950408889634F * formula.gamma)),
                formula.least_exponent);
  } else if constexpr (kForm == Form::polynomial) {
    return Power(hn::MulAdd(sum, hn::Set(kFloats, formula.gamma), hn::Set(kFloats, formula.coef0)),
                 formula.degree);
  } else if constexpr (kForm == Form::sigmoid) {
    return Tanh(hn::MulAdd(sum, hn::Set(kFloats, formula.gamma), hn::Set(kFloats, formula.coef0)));
  } else {
    return sum;
  }
}

// What one column adds to the sum over features of the point z and the row x.
template <Form kForm>
HWY_INLINE Vec AddColumn(Vec x, Vec z, Vec sum) {
  if constexpr (IsSquared(kForm)) {
    const auto difference = hn::Sub(z, x);
    return hn::MulAdd(difference, difference, sum);
  } else if constexpr (IsL1(kForm)) {
    return hn::Add(sum, hn::Abs(hn::Sub(z, x)));
  } else {
    return hn::MulAdd(z, x, sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#endif

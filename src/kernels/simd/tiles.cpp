// Compiled once for each instruction set by Highway's foreach_target; HWY_DYNAMIC_DISPATCH picks at
// run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/tiles.cpp"
#include <hwy/foreach_target.h>
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

// kRows rows against kPanels panels, `panel_size` floats apart. The sums stay in registers; the
// features are the only loop. kByProducts: squared distances from inner products and norms.
template <Form kForm, bool kByProducts, int kRows, int kPanels>
HWY_INLINE void DenseTile(const Formula& formula, Index cols, const DenseRows& rows, Index row,
                          const DensePanels& points, Index panel, float* out, Index stride) {
  const Index panel_size = cols * kLanes;
  const float* panels = points.values + panel * panel_size;
  const float* const* values = rows.values + row;
  constexpr Form kColumns = kByProducts ? Form::dot : kForm;
  Vec sums[kRows][kPanels][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVectors; ++v) sums[r][p][v] = hn::Zero(kFloats);
    }
  }
  for (Index j = 0; j < cols; ++j) {
    Vec z[kPanels][kVectors];
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVectors; ++v)
        z[p][v] = hn::Load(kFloats, panels + p * panel_size + j * kLanes + v * kVectorLanes);
    }
    for (int r = 0; r < kRows; ++r) {
      const auto x = hn::Set(kFloats, values[r][j]);
      for (int p = 0; p < kPanels; ++p) {
        for (int v = 0; v < kVectors; ++v)
          sums[r][p][v] = AddColumn<kColumns>(x, z[p][v], sums[r][p][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVectors; ++v) {
        const Index at = p * kLanes + v * kVectorLanes;
        auto sum = sums[r][p][v];
        if constexpr (kByProducts) {
          const auto norms = hn::Add(hn::Load(kFloats, points.norms + panel * kLanes + at),
                                     hn::Set(kFloats, rows.norms[row + r]));
          sum = FromCommon<kForm>(sum, norms);
        }
        hn::StoreU(Finish<kForm>(formula, sum), kFloats,
                   out + (row + r) * stride + panel * kLanes + at);
      }
    }
  }
}

// Rows of a tile, or panels of one with a single row: as many sums side by side as hide the latency
// of an addition.
constexpr int kTileRows = kVectors == 1 ? 8 : 4;

// Panels of a tile with many rows. Products need one instruction per column, differences two: with
// one panel, vectors of 16 would wait for the values of the rows to be loaded.
template <Form kForm, bool kByProducts>
constexpr bool kHasProducts = kByProducts || !(IsSquared(kForm) || IsL1(kForm));
template <Form kForm, bool kByProducts>
constexpr int kTilePanels = kVectors == 1 && kHasProducts<kForm, kByProducts> ? 2 : 1;

// The panels of a tile stay in the first-level cache while all rows pass over them.
template <Form kForm, bool kByProducts>
void DenseTilesAs(const Formula& formula, Index cols, const DenseRows& rows,
                  const DensePanels& points, float* out, Index stride) {
  // Copies: the compiler then knows that stores to `out` do not change them.
  const auto tile = [formula, cols, rows, points, out, stride]<int kRows, int kPanels>(
                        Index row, Index panel) HWY_ATTR {
    DenseTile<kForm, kByProducts, kRows, kPanels>(formula, cols, rows, row, points, panel, out,
                                                  stride);
  };
  constexpr int kWide = kTilePanels<kForm, kByProducts>;
  const Index in_tiles = rows.count / kTileRows * kTileRows;
  Index p = 0;
  for (; p + kWide <= points.count; p += kWide) {
    for (Index r = 0; r < in_tiles; r += kTileRows)
      tile.template operator()<kTileRows, kWide>(r, p);
  }
  for (; p < points.count; ++p) {
    for (Index r = 0; r < in_tiles; r += kTileRows) tile.template operator()<kTileRows, 1>(r, p);
  }
  for (Index r = in_tiles; r < rows.count; ++r) {
    for (p = 0; p + kTileRows <= points.count; p += kTileRows)
      tile.template operator()<1, kTileRows>(r, p);
    for (; p < points.count; ++p) tile.template operator()<1, 1>(r, p);
  }
}

void DenseTiles(const Formula& formula, Index cols, const DenseRows& rows,
                const DensePanels& points, float* out, Index stride) {
  if (points.norms != nullptr)
    return DenseTilesAs<Form::rbf, true>(formula, cols, rows, points, out, stride);
  ForForm(formula.form, [&]<Form kForm>() {
    DenseTilesAs<kForm, false>(formula, cols, rows, points, out, stride);
  });
}

void PanelNorms(Index cols, const float* panel, float* norms) {
  for (int v = 0; v < kVectors; ++v) {
    auto sum = hn::Zero(kFloats);
    for (Index j = 0; j < cols; ++j) {
      const auto z = hn::Load(kFloats, panel + j * kLanes + v * kVectorLanes);
      sum = AddColumn<Form::dot>(z, z, sum);
    }
    hn::Store(sum, kFloats, norms + v * kVectorLanes);
  }
}

// In one lane of a vector: the same additions as everywhere else.
float RowNorm(Index cols, const float* row) {
  auto sum = hn::Zero(kFloats);
  for (Index j = 0; j < cols; ++j) {
    const auto x = hn::Set(kFloats, row[j]);
    sum = AddColumn<Form::dot>(x, x, sum);
  }
  return hn::GetLane(sum);
}

// One sparse point against kWidthVectors vectors of packed rows.
template <Form kForm, int kWidthVectors>
HWY_INLINE void SparseTile(const Formula& formula, const PackedRows& rows,
                           const SparsePoints& points, Index c, float* out) {
  constexpr Index kWidth = kWidthVectors * kVectorLanes;
  Vec sums[kWidthVectors];
  for (int v = 0; v < kWidthVectors; ++v) sums[v] = hn::Zero(kFloats);
  for (Index k = points.row_begin[c]; k < points.row_begin[c + 1]; ++k) {
    const auto z = hn::Set(kFloats, points.values[k]);
    const auto size = hn::Abs(z);
    const auto sign = hn::CopySign(hn::Set(kFloats, 1.0F), z);
    const float* column = rows.values + static_cast<Index>(points.columns[k]) * kWidth;
    for (int v = 0; v < kWidthVectors; ++v) {
      sums[v] =
          AddCommon<kForm>(z, size, sign, hn::Load(kFloats, column + v * kVectorLanes), sums[v]);
    }
  }
  for (int v = 0; v < kWidthVectors; ++v) {
    const auto norms = hn::Add(hn::LoadU(kFloats, rows.norms + v * kVectorLanes),
                               hn::Set(kFloats, points.norms[c]));
    hn::Store(Finish<kForm>(formula, FromCommon<kForm>(sums[v], norms)), kFloats,
              out + v * kVectorLanes);
  }
}

// In squares of 4 x 4.
void Transpose(const float* in, Index width, Index num_rows, float* out, Index stride) {
  Index r = 0;
#if HWY_TARGET != HWY_SCALAR  // which has vectors of one
  const hn::FixedTag<float, 4> four;
  const hn::RepartitionToWide<decltype(four)> two;
  for (; r + 4 <= num_rows; r += 4) {
    for (Index p = 0; p < kLanes; p += 4) {
      const auto a = hn::LoadU(four, in + p * width + r);
      const auto b = hn::LoadU(four, in + (p + 1) * width + r);
      const auto c = hn::LoadU(four, in + (p + 2) * width + r);
      const auto d = hn::LoadU(four, in + (p + 3) * width + r);
      const auto ab_low = hn::BitCast(two, hn::InterleaveLower(four, a, b));
      const auto cd_low = hn::BitCast(two, hn::InterleaveLower(four, c, d));
      const auto ab_high = hn::BitCast(two, hn::InterleaveUpper(four, a, b));
      const auto cd_high = hn::BitCast(two, hn::InterleaveUpper(four, c, d));
      hn::StoreU(hn::BitCast(four, hn::InterleaveLower(two, ab_low, cd_low)), four,
                 out + r * stride + p);
      hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(two, ab_low, cd_low)), four,
                 out + (r + 1) * stride + p);
      hn::StoreU(hn::BitCast(four, hn::InterleaveLower(two, ab_high, cd_high)), four,
                 out + (r + 2) * stride + p);
      hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(two, ab_high, cd_high)), four,
                 out + (r + 3) * stride + p);
    }
  }
#endif
  for (; r < num_rows; ++r) {
    for (Index p = 0; p < kLanes; ++p) out[r * stride + p] = in[p * width + r];
  }
}

// Points one by one against all packed rows (whose features stay in cache), sixteen at a time into
// a buffer that is then turned into rows.
template <Form kForm, int kWidthVectors>
void SparseTilesAs(const Formula& formula, const PackedRows& rows, Index num_rows,
                   const SparsePoints& points, Index begin, Index end, float* out, Index stride) {
  constexpr Index kWidth = kWidthVectors * kVectorLanes;
  HWY_ALIGN float buffer[kLanes * kWidth];
  for (Index c = begin; c < end; c += kLanes) {
    for (Index p = 0; p < kLanes; ++p) {
      const Index point =
          c + p < end ? c + p : end - 1;  // repeats the last one: finite values in the padding
      SparseTile<kForm, kWidthVectors>(formula, rows, points, point, buffer + p * kWidth);
    }
    Transpose(buffer, kWidth, num_rows, out + c - begin, stride);
  }
}

template <Form kForm>
void SparseTilesOf(const Formula& formula, const PackedRows& rows, Index num_rows,
                   const SparsePoints& points, Index begin, Index end, float* out, Index stride) {
  const Formula constants = formula;
  if (rows.width == kLanes) {
    return SparseTilesAs<kForm, kVectors>(constants, rows, num_rows, points, begin, end, out,
                                          stride);
  }
  SparseTilesAs<kForm, 4 * kVectors>(constants, rows, num_rows, points, begin, end, out, stride);
}

void SparseTiles(const Formula& formula, const PackedRows& rows, Index num_rows,
                 const SparsePoints& points, Index begin, Index end, float* out, Index stride) {
  ForForm(formula.form, [&]<Form kForm>() {
    SparseTilesOf<kForm>(formula, rows, num_rows, points, begin, end, out, stride);
  });
}

// One sparse row against kPanels panels. The panels are `panel_size` floats apart.
template <Form kForm, int kPanels>
HWY_INLINE void MixedTile(const Formula& formula, const SparseQuery& row, const float* panels,
                          Index panel_size, const float* norms, float* out) {
  Vec sums[kPanels][kVectors];
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::Zero(kFloats);
  }
  for (Index k = 0; k < row.count; ++k) {
    const auto x = hn::Set(kFloats, row.values[k]);
    const auto size = hn::Abs(x);
    const auto sign = hn::CopySign(hn::Set(kFloats, 1.0F), x);
    const float* column = panels + static_cast<Index>(row.columns[k]) * kLanes;
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVectors; ++v) {
        const auto points = hn::Load(kFloats, column + p * panel_size + v * kVectorLanes);
        sums[p][v] = AddCommon<kForm>(x, size, sign, points, sums[p][v]);
      }
    }
  }
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kVectors; ++v) {
      const Index at = p * kLanes + v * kVectorLanes;
      const auto both = hn::Add(hn::Load(kFloats, norms + at), hn::Set(kFloats, row.norm));
      hn::StoreU(Finish<kForm>(formula, FromCommon<kForm>(sums[p][v], both)), kFloats, out + at);
    }
  }
}

// Four panels stay in the first-level cache while all rows pass over them.
template <Form kForm>
void MixedTilesAs(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                  const float* panels, const float* norms, Index num_panels, float* out,
                  Index stride) {
  const Formula constants = formula;
  const Index panel_size = cols * kLanes;
  Index p = 0;
  for (; p + 4 <= num_panels; p += 4) {
    for (Index r = 0; r < num_rows; ++r) {
      MixedTile<kForm, 4>(constants, rows[r], panels + p * panel_size, panel_size,
                          norms + p * kLanes, out + r * stride + p * kLanes);
    }
  }
  for (; p < num_panels; ++p) {
    for (Index r = 0; r < num_rows; ++r) {
      MixedTile<kForm, 1>(constants, rows[r], panels + p * panel_size, panel_size,
                          norms + p * kLanes, out + r * stride + p * kLanes);
    }
  }
}

void MixedTiles(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                const float* panels, const float* norms, Index num_panels, float* out,
                Index stride) {
  ForForm(formula.form, [&]<Form kForm>() {
    MixedTilesAs<kForm>(formula, cols, rows, num_rows, panels, norms, num_panels, out, stride);
  });
}

template <Form kForm>
void FinishSumsAs(const Formula& formula, float* values, Index count) {
  const Formula constants = formula;
  for (Index i = 0; i < count; i += kVectorLanes)
    hn::StoreU(Finish<kForm>(constants, hn::LoadU(kFloats, values + i)), kFloats, values + i);
}

void FinishSums(const Formula& formula, float* values, Index count) {
  switch (formula.form) {
    case Form::polynomial:
      return FinishSumsAs<Form::polynomial>(formula, values, count);
    case Form::rbf:
      return FinishSumsAs<Form::rbf>(formula, values, count);
    case Form::laplacian:
      return FinishSumsAs<Form::laplacian>(formula, values, count);
    case Form::sigmoid:
      return FinishSumsAs<Form::sigmoid>(formula, values, count);
    case Form::dot:
    case Form::squared_distance:
    case Form::l1_distance:
      return;
  }
}

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

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(DenseTiles);
HWY_EXPORT(PanelNorms);
HWY_EXPORT(RowNorm);
HWY_EXPORT(SparseTiles);
HWY_EXPORT(MixedTiles);
HWY_EXPORT(Transpose);
HWY_EXPORT(FinishSums);
HWY_EXPORT(BoxDistances);
HWY_EXPORT(SparseBoxDistances);
HWY_EXPORT(TargetName);

void dense_tiles(const Formula& formula, Index cols, const DenseRows& rows,
                 const DensePanels& points, float* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(DenseTiles)(formula, cols, rows, points, out, stride);
}

void panel_norms(Index cols, const float* panel, float* norms) {
  HWY_DYNAMIC_DISPATCH(PanelNorms)(cols, panel, norms);
}

float row_norm(Index cols, const float* row) { return HWY_DYNAMIC_DISPATCH(RowNorm)(cols, row); }

void sparse_tiles(const Formula& formula, const PackedRows& rows, Index num_rows,
                  const SparsePoints& points, Index begin, Index end, float* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(SparseTiles)(formula, rows, num_rows, points, begin, end, out, stride);
}

void mixed_tiles(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                 const float* panels, const float* norms, Index num_panels, float* out,
                 Index stride) {
  HWY_DYNAMIC_DISPATCH(MixedTiles)
  (formula, cols, rows, num_rows, panels, norms, num_panels, out, stride);
}

void transpose(const float* in, Index width, Index num_rows, float* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(Transpose)(in, width, num_rows, out, stride);
}

void finish_sums(const Formula& formula, float* values, Index count) {
  HWY_DYNAMIC_DISPATCH(FinishSums)(formula, values, count);
}

void box_distances(const float* row, Index cols, const float* panel, float* out) {
  HWY_DYNAMIC_DISPATCH(BoxDistances)(row, cols, panel, out);
}

void sparse_box_distances(const SparseQuery& row, const float* panel, const float* from_zero,
                          float* out) {
  HWY_DYNAMIC_DISPATCH(SparseBoxDistances)(row, panel, from_zero, out);
}

const char* target_name() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

std::int64_t targets() { return HWY_TARGETS; }

}  // namespace tamis::simd
#endif

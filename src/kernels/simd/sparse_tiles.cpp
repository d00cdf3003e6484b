// Sparse rows against points. Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/sparse_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/forms-inl.hpp"
#include "kernels/simd/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {

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

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(SparseTiles);
HWY_EXPORT(MixedTiles);
HWY_EXPORT(Transpose);

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

}  // namespace tamis::simd
#endif

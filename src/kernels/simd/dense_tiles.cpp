// Dense rows against panels of points. Compiled once for each instruction set by Highway's
// foreach_target; HWY_DYNAMIC_DISPATCH picks at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/dense_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/forms-inl.hpp"
#include "kernels/simd/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {

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

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(DenseTiles);
HWY_EXPORT(PanelNorms);
HWY_EXPORT(RowNorm);
HWY_EXPORT(FinishSums);
HWY_EXPORT(TargetName);

void dense_tiles(const Formula& formula, Index cols, const DenseRows& rows,
                 const DensePanels& points, float* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(DenseTiles)(formula, cols, rows, points, out, stride);
}

void panel_norms(Index cols, const float* panel, float* norms) {
  HWY_DYNAMIC_DISPATCH(PanelNorms)(cols, panel, norms);
}

float row_norm(Index cols, const float* row) { return HWY_DYNAMIC_DISPATCH(RowNorm)(cols, row); }

void finish_sums(const Formula& formula, float* values, Index count) {
  HWY_DYNAMIC_DISPATCH(FinishSums)(formula, values, count);
}

const char* target_name() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

std::int64_t targets() { return HWY_TARGETS; }

}  // namespace tamis::simd
#endif

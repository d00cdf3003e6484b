// Sparse rows of ones against points of ones: what two have in common is a count, and bytes hold
// four times as many of these as floats do. Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/count_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/simd/forms-inl.hpp"
#include "kernels/simd/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::simd {
namespace HWY_NAMESPACE {

using ByteTag = hn::CappedTag<std::uint8_t, kByteLanes>;
constexpr ByteTag kBytes;
constexpr Index kVectorBytes = hn::MaxLanes(kBytes);
constexpr int kByteVectors = static_cast<int>(kByteLanes / kVectorBytes);

// A byte counts so far: the columns of a row are distinct.
constexpr Index kMostCounted = 255;

// How many of the columns each point of kPanels panels has.
template <int kPanels>
HWY_INLINE void CountColumns(const std::int32_t* columns, Index num_columns,
                             const std::uint8_t* panels, Index panel_size, std::uint8_t* counts) {
  hn::Vec<ByteTag> sums[kPanels][kByteVectors];
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kByteVectors; ++v) sums[p][v] = hn::Zero(kBytes);
  }
  for (Index k = 0; k < num_columns; ++k) {
    const std::uint8_t* column = panels + static_cast<Index>(columns[k]) * kByteLanes;
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kByteVectors; ++v) {
        const auto points = hn::Load(kBytes, column + p * panel_size + v * kVectorBytes);
        sums[p][v] = hn::Add(sums[p][v], points);
      }
    }
  }
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kByteVectors; ++v)
      hn::Store(sums[p][v], kBytes, counts + p * kByteLanes + v * kVectorBytes);
  }
}

// One row against kPanels panels, whose points [begin, end) are wanted. More columns than a byte
// can count are counted in parts.
template <Form kForm, int kPanels>
HWY_INLINE void CountTile(const Formula& formula, const SparseQuery& row,
                          const std::uint8_t* panels, Index panel_size, const float* norms,
                          Index begin, Index end, float* out) {
  constexpr Index kPoints = kPanels * kByteLanes;
  HWY_ALIGN std::uint8_t counts[kPoints];
  HWY_ALIGN float of_parts[kPoints];
  const bool in_parts = row.count > kMostCounted;
  if (in_parts) std::fill_n(of_parts, kPoints, 0.0F);
  Index first = 0;
  for (; row.count - first > kMostCounted; first += kMostCounted) {
    CountColumns<kPanels>(row.columns + first, kMostCounted, panels, panel_size, counts);
    for (Index p = 0; p < kPoints; ++p) of_parts[p] += static_cast<float>(counts[p]);
  }
  CountColumns<kPanels>(row.columns + first, row.count - first, panels, panel_size, counts);
  const hn::Rebind<std::uint8_t, FloatTag> few_bytes;
  const hn::Rebind<std::int32_t, FloatTag> ints;
  const auto own_norm = hn::Set(kFloats, row.norm);
  for (Index at = begin; at < end; at += kVectorLanes) {
    auto common = hn::ConvertTo(kFloats, hn::PromoteTo(ints, hn::LoadU(few_bytes, counts + at)));
    if (in_parts) common = hn::Add(common, hn::Load(kFloats, of_parts + at));
    const auto both = hn::Add(hn::Load(kFloats, norms + at), own_norm);
    hn::StoreU(Finish<kForm>(formula, FromCommon<kForm>(common, both)), kFloats, out + at - begin);
  }
}

// Two panels stay in the first-level cache while all rows pass over them, up to 256 columns.
template <Form kForm>
void CountTilesAs(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                  const BytePanels& points, Index begin, Index end, float* out, Index stride) {
  const Formula constants = formula;
  const Index panel_size = cols * kByteLanes;
  const auto tiles = [=]<int kPanels>(Index first, Index last) HWY_ATTR {
    const Index panel = first / kByteLanes;
    const Index skipped = panel * kByteLanes;
    for (Index r = 0; r < num_rows; ++r) {
      CountTile<kForm, kPanels>(constants, rows[r], points.values + panel * panel_size, panel_size,
                                points.norms + skipped, first - skipped, last - skipped,
                                out + r * stride + first - begin);
    }
  };
  for (Index first = begin; first < end;) {
    const Index left_in_panel = kByteLanes - first % kByteLanes;
    const bool two = left_in_panel == kByteLanes && first + 2 * kByteLanes <= end;
    const Index last = two ? first + 2 * kByteLanes : std::min(end, first + left_in_panel);
    if (two)
      tiles.template operator()<2>(first, last);
    else
      tiles.template operator()<1>(first, last);
    first = last;
  }
}

void CountTiles(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                const BytePanels& points, Index begin, Index end, float* out, Index stride) {
  ForForm(formula.form, [&]<Form kForm>() {
    CountTilesAs<kForm>(formula, cols, rows, num_rows, points, begin, end, out, stride);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::simd {

HWY_EXPORT(CountTiles);

void count_tiles(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                 const BytePanels& points, Index begin, Index end, float* out, Index stride) {
  HWY_DYNAMIC_DISPATCH(CountTiles)
  (formula, cols, rows, num_rows, points, begin, end, out, stride);
}

}  // namespace tamis::simd
#endif

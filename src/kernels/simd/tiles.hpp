// The SIMD inner loops, chosen at run time for the machine's instruction set. Plain pointers and
// counts; the owners of the memory are above (kernel_blocks.cpp).
#pragma once

#include <cstdint>

#include "tamis/dataset.hpp"

namespace tamis::simd {

/// Points per panel: one panel is `cols` groups of kLanes floats, feature after feature.
inline constexpr Index kLanes = 16;

/// What is made of the inner product, the squared distance, or the sum of absolute differences (the
/// L1 distance) of two rows.
enum class Form { dot, polynomial, rbf, sigmoid, squared_distance, laplacian, l1_distance };

struct Formula {
  Form form = Form::dot;
  float gamma = 1;
  float coef0 = 0;
  int degree = 1;
  float least_exponent = -126;  ///< rbf: values below 2^least_exponent are zero; at least -126
};

/// Dense rows, and their norms where the points have them.
struct DenseRows {
  const float* const* values = nullptr;
  const float* norms = nullptr;
  Index count = 0;
};

/// Panels of dense points, and the norms of the points, 16 a panel; null: distances come from
/// differences.
struct DensePanels {
  const float* values = nullptr;
  const float* norms = nullptr;
  Index count = 0;
};

/// out[r * stride + 16 p + l] = K(rows[r], point l of panel p). Distances are sums of (x - z)^2;
/// or, where norms are given, for rbf only, |x|^2 + |z|^2 - 2<x, z>: half the work, but in float32
/// small distances are then as inexact as large ones.
void dense_tiles(const Formula& formula, Index cols, const DenseRows& rows,
                 const DensePanels& points, float* out, Index stride);

/// |x|^2 of the 16 points of a panel, and of a row, for dense_tiles(): rounded as its inner
/// products are, so that the distance of equal rows is exactly 0.
void panel_norms(Index cols, const float* panel, float* norms);
float row_norm(Index cols, const float* row);

/// Rows packed side by side, feature after feature: `width` (16 or 64) floats for each column.
/// Unused places are zero. Norms of sparse rows are |x|^2, and |x|_1 for the forms of an L1
/// distance.
struct PackedRows {
  const float* values = nullptr;
  const float* norms = nullptr;  ///< `width` of them
  Index width = 0;
};

/// Points in CSR form with their norms.
struct SparsePoints {
  const Index* row_begin = nullptr;
  const std::int32_t* columns = nullptr;
  const float* values = nullptr;
  const float* norms = nullptr;
};

/// out[r * stride + c - begin] = K(packed row r, point c) for r in [0, num_rows) and c in [begin,
/// end); `stride` is at least end - begin rounded up to 16. Distances come from the norms: sparse
/// rows have no cheap differences. For L1, |x - z|_1 = |x|_1 + |z|_1 - 2 o, where the overlap o
/// sums min(|x_j|, |z_j|) over the columns in which both have the same sign.
void sparse_tiles(const Formula& formula, const PackedRows& rows, Index num_rows,
                  const SparsePoints& points, Index begin, Index end, float* out, Index stride);

/// A sparse row and its norm.
struct SparseQuery {
  const std::int32_t* columns = nullptr;
  const float* values = nullptr;
  Index count = 0;
  float norm = 0;
};

/// out[r * stride + 16 p + l] = K(rows[r], point l of panel p), with as little work as the rows
/// have non-zeros. `norms` are those of the points, 16 a panel. Distances come from the norms.
void mixed_tiles(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                 const float* panels, const float* norms, Index num_panels, float* out,
                 Index stride);

/// Points of ones and zeros, as bytes: panels of kByteLanes, feature after feature, and the norms
/// of the points.
inline constexpr Index kByteLanes = 64;
struct BytePanels {
  const std::uint8_t* values = nullptr;
  const float* norms = nullptr;
};

/// out[r * stride + c - begin] = K(rows[r], point c) for c in [begin, end), both multiples of
/// kLanes. All values of the rows are 1: sums over features are exact, so that the values are those
/// of mixed_tiles() to the last bit.
void count_tiles(const Formula& formula, Index cols, const SparseQuery* rows, Index num_rows,
                 const BytePanels& points, Index begin, Index end, float* out, Index stride);

/// out[r * stride + p] = in[p * width + r] for p in [0, 16) and r in [0, num_rows).
void transpose(const float* in, Index width, Index num_rows, float* out, Index stride);

/// values[i] = K made of the inner product, or of the distance, values[i]; count is a multiple of
/// 16.
void finish_sums(const Formula& formula, float* values, Index count);

/// out[l] = squared distance of the row from box l of 16. `panel` holds, column after column, the
/// 16 lower and the 16 upper edges.
void box_distances(const float* row, Index cols, const float* panel, float* out);
/// The same for a sparse row: `from_zero` are the boxes' squared distances from the zero row. What
/// rounding may have added is taken off again.
void sparse_box_distances(const SparseQuery& row, const float* panel, const float* from_zero,
                          float* out);

/// sums[c] += sum over r of coefficients[r] * rows[r][c], c in [0, count), every product and sum in
/// double.
void accumulate(const float* const* rows, const double* coefficients, Index num_rows, Index count,
                double* sums);

/// Name of the instruction set in use: "AVX2".
const char* target_name();

/// The instruction sets that were compiled in.
std::int64_t targets();

}  // namespace tamis::simd

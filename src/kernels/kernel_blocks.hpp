// Blocks of kernel values: the primitive that training, prediction and neighbour search are made
// of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// Points are handled in panels of this many.
inline constexpr Index kPanel = 16;

/// How the RBF kernel gets the distances of dense rows: as sums of squared differences; or from
/// inner products and norms, with half the work, and a rounding that grows with the norms
/// (kernels/distance_rounding.hpp). Other kernels have one way.
enum class DistanceBy { differences, products };

/// Kernel values between any rows and a fixed set of points. Immutable; safe to use from many
/// threads at once. K(x, z) is the same to the last bit whichever of x and z is the point, as long
/// as both come from like matrices (both dense or both sparse).
class KernelBlocks {
 public:
  /// Packs `points` for the SIMD code: a copy when dense or of few columns; other sparse points are
  /// shared.
  KernelBlocks(const Kernel& kernel, const Matrix& points);
  /// The same for the given rows of `points`, in that order. With `control`, what its budget has no
  /// room for is packed into a scratch file; null: in memory.
  KernelBlocks(const Kernel& kernel, const Matrix& points, std::span<const Index> rows,
               const RunControl* control = nullptr,
               DistanceBy distance_by = DistanceBy::differences);
  /// Squared Euclidean distances in place of kernel values, for neighbour search. Rows as above;
  /// none given: all.
  static KernelBlocks squared_distances(const Matrix& points, std::span<const Index> rows = {});
  /// What the kernel is made of, whatever its gamma, coef0 and degree: squared distances for rbf,
  /// sums of absolute differences for laplacian, inner products for the others. finish_kernel()
  /// turns these into kernel values.
  static KernelBlocks unfinished(KernelType type, const Matrix& points);
  ~KernelBlocks();
  KernelBlocks(KernelBlocks&&) noexcept;
  KernelBlocks& operator=(KernelBlocks&&) noexcept;

  /// RBF values below this count as zero from now on; at least 2^-126, below which they always do.
  void set_least_value(float least);

  /// What packing so many of the points takes, at most.
  static Index packed_bytes(const Matrix& points, Index rows);

  /// Whether a row alone costs about its share of many. Points in sparse rows of many columns go
  /// against 16 rows or more at once, whatever is asked for.
  static bool is_quick_with_single_rows(const Matrix& points);
  /// How many rows evaluate() is best given at once, 32 or kMostRowsAtOnce: sparse points of many
  /// columns go against that many packed side by side, and with fewer a part of the lanes is idle.
  static Index rows_at_once(const Matrix& points);
  static constexpr Index kMostRowsAtOnce = 64;
  Index num_points() const;
  /// Bytes held beside the points matrix that was passed in.
  Index size_bytes() const;

  /// out[r * stride + c - begin] = K(queries row rows[r], point c) for c in [begin, end). `begin`
  /// is a multiple of kPanel; `stride` is at least end - begin rounded up to kPanel, and what lies
  /// between is overwritten with unspecified values. `queries` must have as many columns as the
  /// points. `row_norms` of those rows, where there are any: see row_norms(); empty: computed here,
  /// which costs as much as some of the points do.
  void evaluate(const Matrix& queries, std::span<const Index> rows, Index begin, Index end,
                float* out, Index stride, std::span<const float> row_norms = {}) const;

 private:
  struct Impl;
  explicit KernelBlocks(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Whether evaluate() needs norms: for sparse rows, and for distances by products.
bool needs_norms(const Kernel& kernel, const Matrix& data, DistanceBy distance_by);
/// |x|^2 of each of the rows, for laplacian |x|_1, as evaluate() wants it; empty where it needs
/// none.
std::vector<float> row_norms(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
                             DistanceBy distance_by = DistanceBy::differences);
/// The same into `norms`, which is empty or has a place for each row.
void row_norms(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
               std::span<float> norms);

/// Kernel values from what KernelBlocks::unfinished() gives, in place; count is a multiple of
/// kPanel.
void finish_kernel(const Kernel& kernel, float* values, Index count);

/// block[r * stride + c] = block[c * stride + r] for r in [begin, end) and c in [0, columns), up to
/// `begin` of them. `begin` is a multiple of kPanel; so many columns are mirrored at a time.
void mirror(float* block, Index stride, Index begin, Index end, Index columns);

/// sums[c] += sum over r of coefficients[r] * values[r * stride + c] for c in [0, count),
/// accumulated in double.
void accumulate_rows(const float* values, Index stride, std::span<const double> coefficients,
                     Index count, double* sums);
/// The same for rows that lie anywhere.
void accumulate_rows(std::span<const float* const> rows, std::span<const double> coefficients,
                     Index count, double* sums);

/// Name of the instruction set the blocks are computed with: "AVX2".
const char* simd_target_name();

/// The instruction sets that were compiled in, as bits of Highway (HWY_AVX2). The highest bit is
/// the baseline, which works everywhere.
std::int64_t simd_targets();

}  // namespace tamis

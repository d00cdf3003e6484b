// Where the solver gets its kernel values from. It names points by their number and never sees a
// kernel or a data set.
#pragma once

#include <span>
#include <vector>

#include "qp/problem.hpp"
#include "tamis/dataset.hpp"

namespace tamis::qp {

/// On several ranks, at most this many rows are brought at a time.
inline constexpr std::size_t kRowsBrought = 4096;

/// A symmetric matrix K over points 0 .. size() - 1. Not thread-safe: one solver uses one source,
/// which may use threads inside. The results do not depend on their number.
class RowSource {
 public:
  virtual ~RowSource() = default;

  /// On several ranks: the points this one has.
  virtual Index size() const = 0;
  virtual std::span<const double> diagonal() const = 0;

  /// The numbers by which `square` and the rows of `accumulate` name these points of any rank,
  /// until the next call. Every rank calls it with the same points.
  virtual std::vector<Index> bring(std::span<const PointName> points) {
    std::vector<Index> numbers;
    numbers.reserve(points.size());
    for (const PointName& name : points) numbers.push_back(name.point);
    return numbers;
  }

  /// block[r * stride + c] = K(points[r], points[c]). `stride` is a multiple of 16; the padding is
  /// overwritten.
  virtual void square(std::span<const Index> points, float* block, Index stride) = 0;

  /// The same where the values among the last `known` points are in their places already.
  virtual void rest_of_square(std::span<const Index> points, Index /*known*/, float* block,
                              Index stride) {
    square(points, block, stride);
  }

  /// The same with a part of the values from each rank. All ranks call it, for the same points; the
  /// first one gets the values.
  virtual void rest_of_square_together(std::span<const Index> points, Index known, float* block,
                                       Index stride) {
    rest_of_square(points, known, block, stride);
  }

  /// The same a row at a time. Gets ready for block_row(); false: only square() can be had.
  virtual bool begin_block(std::span<const Index> /*points*/) { return false; }
  /// values[c] = K(points[r], points[c]) for the points of the last begin_block(), with the bits of
  /// square(); `values` has room for their number rounded up to 16. Safe to call from many threads.
  virtual void block_row(Index /*r*/, float* /*values*/) const {}
  /// So many rows of the block were of use, for the count of kernel values.
  virtual void end_block(Index /*rows_used*/) {}

  /// As square(), with K = block + rest, exact to about 48 bits, at ten times the cost: large
  /// coefficients need it. Returns false, with both in an unusable state, when it was told to stop.
  virtual bool precise_square(std::span<const Index> points, float* block, float* rest,
                              Index stride) = 0;

  /// values[r * size() + c] = K(points[r], c) in double, for every point c, at ten times the cost
  /// of a float. Returns false, with the values in an unusable state, when it was told to stop.
  virtual bool precise_rows(std::span<const Index> points, double* values) = 0;

  /// From now on `accumulate` covers these points, in this order. Points that stay should keep
  /// their order and come before new ones: then rows computed earlier can be reused.
  virtual void set_active(std::span<const Index> points) = 0;

  /// sums[p] += sum over r of coefficients[r] * K(rows[r], active point p), for every active p.
  /// Returns false, with sums in an unusable state, when it was told to stop.
  virtual bool accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                          std::span<double> sums) = 0;

  /// The same for arbitrary points, without remembering anything.
  virtual bool accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                             std::span<const double> coefficients, std::span<double> sums) = 0;
};

}  // namespace tamis::qp

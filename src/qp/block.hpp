// Some points with the square of their kernel values, as the pair solver wants them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "qp/pair_solver.hpp"
#include "qp/row_source.hpp"

namespace tamis::qp {

/// A block laid out for the pair solver: group 0 first, filled up so that group 1 begins at a
/// multiple of the padding.
/// Its memory is reused from block to block.
class Block {
 public:
  /// All points of `problem`. `diagonal` of the kernel, and the numbers by which the source knows
  /// the points (empty: their own), are by point. `precise`: own_sums() will be exact for the true
  /// kernel, not for its float values. False when it was told to stop.
  bool lay_out(const Problem& problem, std::span<const double> diagonal, RowSource& source,
               std::span<const Index> numbers, bool precise);

  std::span<const Index> points() const { return points_; }
  std::span<double> beta() { return beta_; }
  /// Runs the pair solver from the given beta and F.
  PairResult solve(const Problem& problem, std::span<const double> sums, const PairLimits& limits);
  /// F of the block's points for its beta, the rest of the problem left out: exact when the block
  /// is the whole problem.
  std::vector<double> own_sums() const;

 private:
  std::vector<Index> points_;
  Index group_split_ = 0;
  Index stride_ = 0;
  // size x stride floats in memory that holds room_ of them and is never cleared: for small
  // problems clearing takes a tenth of the time.
  std::unique_ptr<float[]> kernel_;
  Index room_ = 0;
  std::vector<float> rest_;  // what rounding took from kernel_; empty: not known
  std::vector<double> diagonal_;
  std::vector<double> beta_;
};

}  // namespace tamis::qp

// Some points with the square of their kernel values, as the pair solver wants them.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "base/group.hpp"
#include "base/page_memory.hpp"
#include "qp/active_set.hpp"
#include "qp/faster_way.hpp"
#include "qp/pair_solver.hpp"
#include "qp/row_source.hpp"

namespace tamis::qp {

/// The problem of these points alone, and the diagonal of their kernel.
Problem problem_of(std::span<const BlockPoint> points, double tube, std::vector<double>* diagonal);

/// A block laid out for the pair solver: group 0 first, filled up so that group 1 begins at a
/// multiple of the padding.
/// Its memory is reused from block to block. On several ranks all make the same calls, and the
/// first one solves: on another processor the same steps may round differently.
class Block {
 public:
  explicit Block(Group& group = alone()) : group_(group) {}

  enum class Values {
    all,        ///< in float
    precise,    ///< own_sums() will be exact for the true kernel, not for its float values
    as_needed,  ///< those that solve() needs, once; `source` must stay until then
  };
  /// All points of `problem`. `diagonal` of the kernel, and the numbers by which the source knows
  /// the points (empty: their own), are by point. So are the names: what was computed for the last
  /// block is used again where a block ends with points of the one before (empty: it is not). False
  /// when it was told to stop.
  bool lay_out(const Problem& problem, std::span<const double> diagonal, RowSource& source,
               std::span<const Index> numbers, std::span<const PointName> names, Values values);

  std::span<const Index> points() const { return points_; }
  std::span<double> beta() { return beta_; }
  /// Runs the pair solver from the given beta and F; every rank gets the new beta.
  PairResult solve(const Problem& problem, std::span<const double> sums, const PairLimits& limits);
  /// F of the block's points for its beta, the rest of the problem left out: exact when the block
  /// is the whole problem. On the first rank.
  std::vector<double> own_sums() const;
  /// That lay_out() and solve() took this rank, apart from waiting for others to solve.
  double seconds() const { return seconds_; }

 private:
  enum RowState : std::uint8_t { missing, underway, there };
  enum Way : int { by_first_rank, by_all_ranks };  // how a square is computed

  bool solves() const { return group_.rank() == 0; }
  bool compute_values(RowSource& source, std::span<const Index> numbers, Index known,
                      Values values);
  void compute_square(RowSource& source, std::span<const Index> numbers, Index known);
  /// Puts the values that are known of the last block where `names` need them; of how many of the
  /// last points these are.
  Index take_over_known(std::span<const PointName> names);
  void set_diagonal(Index k) {
    kernel_[static_cast<std::size_t>(k * stride_ + k)] =
        static_cast<float>(diagonal_[static_cast<std::size_t>(k)]);
  }
  /// Row k is there when it returns, unless another thread is at it.
  void fill_row(Index k);
  void need_row(Index k);
  PairResult solve_as_needed(const Problem& problem, SubProblem part, const PairLimits& limits);
  /// From the first rank to the others: the new beta, and what the next block depends on.
  void share(PairResult* result);

  Group& group_;
  std::vector<Index> points_;
  Index group_split_ = 0;
  Index stride_ = 0;
  // size x stride floats in memory that holds room_ of them and is never cleared: for small
  // problems clearing takes a tenth of the time.
  PageFloats kernel_;
  Index room_ = 0;
  std::vector<PointName> names_;  // of the points, if all their values are there; else empty
  Index names_stride_ = 0;        // of these values
  std::vector<float> rest_;       // what rounding took from kernel_; empty: not known
  std::vector<double> diagonal_;
  std::vector<double> beta_;
  // Rows as needed; null: all of them are there.
  RowSource* source_ = nullptr;
  std::vector<std::atomic<std::uint8_t>> states_;  // RowState of each row
  std::vector<char> used_;                         // rows that the pair solver has read
  Index num_used_ = 0;                             // in the last block too, until solve() begins
  FasterWay measured_ways_;                        // of the first rank, which tells the others
  int way_ = by_first_rank;
  double seconds_ = 0;
};

}  // namespace tamis::qp

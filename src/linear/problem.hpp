// The linear machines: f(x) = w'x + offset, found through their dual.
//
//   minimise over w:  1/2 |w|^2 + 1/2 (offset / B)^2 + sum of loss(f(x_i), t_i)
//
//   classification   C_i max(0, 1 - t_i f)       (l1),  C_i max(0, 1 - t_i f)^2       (l2)
//   regression       C_i max(0, |f - t_i| - E)   (l1),  C_i max(0, |f - t_i| - E)^2   (l2)
//
// The bias of LIBLINEAR's -B is a column that holds B in every row: its weight is part of |w|, so
// the offset is penalised as above. Without a bias the offset is 0; a free one costs nothing. The
// dual, over one coefficient a row:
//
//   minimise    1/2 |X'b|^2 + 1/2 B^2 (sum of b)^2 + 1/2 sum of ridge_i b_i^2 - t'b + E |b|_1
//   subject to  bounds of b_i;  free offset: sum of b = 0 in place of the second term
//   then        w = X'b,  offset = B^2 sum of b  (free: the multiplier of the sum)
//
// with [0, C_i] for t = +1, [-C_i, 0] for t = -1, [-C_i, C_i] for a regression, ridge 0; for
// squared losses C_i is infinite and ridge_i = 1/(2 C_i).
//
// With w >= 0 asked for, |X'b|^2 is that of its positive part, and w = max(0, X'b): coordinate
// descent stays the same, as |x|^2 still bounds the curvature along a coefficient.
#pragma once

#include <span>
#include <vector>

#include "base/row_vector.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/group.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"

namespace tamis::linear {

struct Problem {
  Matrix features;
  std::span<const Index> rows;     ///< point i is row rows[i] of features; empty: row i
  std::span<const double> target;  ///< +1 or -1, or the numbers to learn; one a point
  std::span<const double> cost;    ///< C > 0 of each point
  Task task = Task::classification;
  SlackLoss loss = SlackLoss::l1;
  double tube = 0;  ///< E >= 0, regression only
  Bias bias;
  bool nonnegative = false;  ///< w >= 0; the offset may be negative
  /// The solver works on a shuffled copy of the rows. Without it, it takes less memory and more
  /// time, and gives the same answer.
  bool copies_rows = true;
  /// With it, a copy that its budget has no room for lies in a scratch file; null: in memory.
  const RunControl* control = nullptr;
  RowStore store = {};            ///< of the numbers for each point
  std::span<const double> start;  ///< b to begin with, cut to its bounds; empty: zeros
  /// Rows of the data that each point stands for, as its cost does already; empty: one.
  std::span<const Index> copies;
  /// The points in blocks (block_sums.hpp): block k is the points [blocks[k], blocks[k + 1]).
  /// Empty: all of them are one, and the problem is solved by the rank that has it.
  std::span<const Index> blocks;
  /// The ranks that solve the problem together, each with the points of its blocks; null: this one
  /// alone.
  Group* group = nullptr;

  double copies_of(Index i) const {
    return copies.empty() ? 1 : static_cast<double>(copies[static_cast<std::size_t>(i)]);
  }
  Index size() const { return static_cast<Index>(target.size()); }
  Index row(Index i) const { return rows.empty() ? i : rows[static_cast<std::size_t>(i)]; }
};

struct Objectives {
  double dual = 0;  ///< as minimised above: negative of a lower bound of the primal
  double gap = 0;   ///< primal plus dual; >= 0, and 0 at the optimum
};

/// Throws InvalidArgument unless the counts fit, costs are positive and labels are +1 or -1.
void require_sound(const Problem& problem);

/// What point i adds to the primal objective at the value f, and to the dual at the coefficient b.
double primal_loss(const Problem& problem, Index i, double f);
double dual_loss(const Problem& problem, Index i, double b);

/// Derivative of the dual along b_i (classification: along t_i b_i) where b_i may move that way,
/// else 0; `value` is w'x_i + offset. As LIBLINEAR's projected gradient.
double projected_gradient(const Problem& problem, Index i, double b, double value);

/// Largest |b_i|, infinite for squared losses, and ridge_i.
double dual_bound(const Problem& problem, Index i);
double dual_ridge(const Problem& problem, Index i);

}  // namespace tamis::linear

// A primal-dual interior-point method for linear machines of few columns: S. Mehrotra, "On the
// implementation of a primal-dual interior point method", SIAM J. Optimization 2(4), 1992; the
// linear algebra of machines with few columns is that of M. Ferris, T. Munson, "Interior-point
// methods for massive support vector machines", SIAM J. Optimization 13(3), 2002.
//
// It takes 20 to 100 steps on most data whatever the sizes of columns and costs (up to 175 were
// seen, with a rare class), where coordinate descent may need millions of epochs. A step weighs the
// rows and adds up their outer products: its work grows with the square of the columns.
#pragma once

#include <optional>
#include <vector>

#include "linear/problem.hpp"
#include "qp/stopping.hpp"

namespace tamis::linear {

struct InteriorSolution {
  RowVector<double> beta;  ///< b within its bounds, at them where the optimum is
  double offset = 0;
  double violation = 0;  ///< as Solution has it
};

/// Whether there is a method for it: few columns, not too many rows, no bound on w.
bool has_interior_method(const Problem& problem);

/// About what it takes, counted in values of rows that coordinate descent could visit instead.
double interior_work(Index points, Index cols, double values_a_row);

/// Bytes it needs in addition to the data; 0 when it is never used for such a problem. In memory,
/// and numbers for each point, which lie in the store of the problem.
Index interior_bytes(Index points, Index cols);
Index interior_point_bytes(Index points, Index cols);

/// The best answer it came by, whose violation may be above the tolerance; nothing when it was
/// stopped, or there is none.
std::optional<InteriorSolution> solve_interior(const Problem& problem, const qp::StopCheck& stop);

}  // namespace tamis::linear

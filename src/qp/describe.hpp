// What coefficients are worth: bias, objective and duality gap.
#pragma once

#include "qp/active_set.hpp"
#include "qp/problem.hpp"
#include "qp/solver.hpp"
#include "tamis/group.hpp"

namespace tamis::qp {

enum class SumOrder {
  of_points,  ///< the same for every run: a plain sum will do
  any,        ///< points may lie anywhere, on any rank: exact sums
};

/// `beta` and F of this rank's points; bias, objective and gap are those of all ranks. What the
/// solver alone knows, such as iterations, is left out.
Solution describe(Group& group, const Problem& problem, RowVector<double> beta,
                  RowVector<double> sums, const Violation& violation, SumOrder order);

}  // namespace tamis::qp

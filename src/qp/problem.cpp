#include "qp/problem.hpp"

#include <limits>

namespace tamis::qp {

Slopes slopes_at(const Problem& problem, Index i, double beta) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto k = static_cast<std::size_t>(i);
  Slopes slopes;
  slopes.up = beta < problem.upper[k]
                  ? problem.target[k] - (beta < 0 ? -problem.tube : problem.tube)
                  : -kInfinity;
  slopes.down = beta > problem.lower[k]
                    ? problem.target[k] - (beta > 0 ? problem.tube : -problem.tube)
                    : kInfinity;
  return slopes;
}

}  // namespace tamis::qp

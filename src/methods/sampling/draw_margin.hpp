// The margin of a draw: the subproblem that random sampling solves again and again.
//
// Over points with signs y (J. L. Balcazar, Y. Dai, J. Tanaka, O. Watanabe, "Provably fast training
// algorithms for support vector machines", 2008):
//
//   (P1)  minimise 1/2 |w|^2 - (theta+ - theta-)   so that  w.x >= theta+ for y = +1,
//                                                           w.x <= theta- for y = -1
//   (P2)  the same with slacks at the price D = 1/k each
//   (P3)  the dual of (P2): the nearest points of the two hulls whose coefficients are at most D,
//         w = their difference
//
// The answer is scaled so that f = (w.x - (theta+ + theta-) / 2) / ((theta+ - theta-) / 2) is +1
// and -1 at the margins. Scaled like that, the answer to (P3) is the answer to the C-SVC with C = D
// / ((theta+ - theta-) / 2), and that to (P1) the answer for C infinite: the optimality conditions
// are the same.
#pragma once

#include "methods/sampling/margin_points.hpp"
#include "tamis/report.hpp"

namespace tamis {

/// Which of the problems.
struct MarginForm {
  enum class Kind {
    hard,          ///< (P1)
    hulls,         ///< (P3) with D = weight / k
    cost,          ///< the C-SVC: (P3) with the D that C stands for
    squared_cost,  ///< the C-SVC with squared slacks
  };
  Kind kind = Kind::hard;
  double k = 1;     ///< hulls
  double cost = 1;  ///< cost, squared_cost

  bool is_hull() const { return kind == Kind::hard || kind == Kind::hulls; }
  /// Largest coefficient of a point with weight 1; infinite: no limit.
  double limit() const;
  /// Added to K(p, p) of a point with weight 1.
  double ridge() const { return kind == Kind::squared_cost ? 1 / (2 * cost) : 0; }
};

struct DrawMargin {
  /// Scaled to margin 1; no points: told to stop before anything was known.
  Direction w;
  double offset = 0;        ///< f = <w, phi> + offset
  double half_margin = 1;   ///< (theta+ - theta-) / 2 before scaling; 1 for `cost`
  double squared_norm = 0;  ///< |w|^2
  double violation = 0;     ///< of the optimality conditions within the draw, in margins
  Index bounded = 0;        ///< coefficients at their limit
  /// False: the hulls of the draw meet (w = 0), and so do those of every larger set of points
  /// (Theorem 6.1). The other fields mean nothing then.
  bool is_separated = true;
  StopReason stop_reason = StopReason::converged;
  std::int64_t iterations = 0;
};

struct LocalLimits {
  double eps = 1e-3;  ///< wanted violation, in margins
  std::int64_t max_iterations = 0;
  double max_seconds = 0;
};

/// Every sign must have enough points in `draw`: their weights / k must sum to 1 at least
/// (`hulls`), or there must be one (`hard`). `start`: an answer for other points, to begin from.
DrawMargin solve_local_margin(const MarginPoints& points, const MarginForm& form,
                              std::span<const Index> draw, const DrawMargin* start,
                              const LocalLimits& limits, const RunControl& control,
                              EvaluationCounts* counts);

}  // namespace tamis

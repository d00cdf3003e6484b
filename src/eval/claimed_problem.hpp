// The problem one machine claims to solve, row by row, and how well it does. Written from the
// textbook, apart from src/qp, so that a mistake there cannot hide itself here.
//
//   primal   minimise  1/2 |w|^2 + sum of C_i loss(slack_i)
//   dual     maximise  sum of t_i b_i - tube |b_i| - ridge_i b_i^2 / 2, less 1/2 |w|^2
//            subject to  sum of b_i = 0,  b_i in [lower_i, upper_i],  w = sum of b_i phi(x_i)
//
// with t = y, tube 0, b = y alpha for classes, and t the number to learn for a regression.
#pragma once

#include <span>
#include <vector>

#include "base/group.hpp"
#include "tamis/certify.hpp"

namespace tamis {

struct ClaimedProblem {
  bool is_regression = false;
  double tube = 0;
  SlackLoss loss = SlackLoss::l1;
  std::vector<Index> rows;      ///< of the data
  std::vector<double> targets;  ///< one a row: +1, -1, or a number
  std::vector<double> cost;     ///< C of each row; infinite: no slack allowed

  double lower(std::size_t k) const { return is_regression || targets[k] < 0 ? -limit(k) : 0; }
  double upper(std::size_t k) const { return is_regression || targets[k] > 0 ? limit(k) : 0; }
  double ridge(std::size_t k) const { return loss == SlackLoss::l2 ? 1 / (2 * cost[k]) : 0; }

 private:
  double limit(std::size_t k) const;
};

/// Shares `total` among the rows `members` (positions in `problem`), which all have the same
/// content: any way gives the same w, this one the largest dual objective. What no bound allows
/// goes to the last member.
void share_coefficient(const ClaimedProblem& problem, std::span<const std::size_t> members,
                       double total, std::span<double> beta);

/// Objectives, gap, violations and breaches for coefficients `beta` and decision values `values`,
/// one a row of the problem, offset included; `squared_norm` is |w|^2. Does not fill name, support
/// vectors and rounding, and leaves the verdict open. On several ranks each has some of the rows,
/// and all get the result for all rows: the same for any number of ranks.
MachineCertificate assess(const ClaimedProblem& problem, std::span<const double> beta,
                          std::span<const double> values, double squared_norm, double eps,
                          Group& group = alone());

}  // namespace tamis

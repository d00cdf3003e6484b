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

#include "base/exact_sum.hpp"
#include "base/group.hpp"
#include "base/infinity.hpp"
#include "tamis/certify.hpp"

namespace tamis {

/// The problem, or some of its rows.
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

/// How well the problem is solved, from its rows in parts. The order of the rows, how they are
/// parted and which rank has them changes nothing.
class Assessment {
 public:
  /// Coefficients `beta` and decision values `values`, offset included, one a row of the part.
  void add(const ClaimedProblem& part, std::span<const double> beta, std::span<const double> values,
           double eps);
  /// Adds what the other ranks found. Each of them calls it.
  void gather(Group& group);

  /// Sum of beta (f - offset) over the rows: |w|^2, if all support vectors are rows.
  double squared_norm(double offset) const;
  /// Objectives, gap, violations and breaches. Does not fill name, support vectors and rounding,
  /// and leaves the verdict open.
  MachineCertificate result(double squared_norm) const;

 private:
  void add(const Assessment& other);
  void note_violation(double breach, Index row);

  ExactSum coefficients_;
  ExactSum products_;  // of coefficients and decision values
  ExactSum linear_;    // part of the dual
  ExactSum costs_;     // of slacks
  ExactSum excess_;    // of the violating rows
  Index rows_ = 0;
  Index violating_rows_ = 0;
  Index worst_row_ = -1;
  double violation_ = 0;
  double bound_breach_ = 0;
  double smallest_margin_ = kInfinity;
  std::int64_t has_hard_margin_ = 0;
};

}  // namespace tamis

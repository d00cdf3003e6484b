// The points the solver currently looks at, compactly stored, and what it needs to bring the others
// back.
#pragma once

#include <span>
#include <vector>

#include "qp/problem.hpp"
#include "qp/row_source.hpp"

namespace tamis::qp {

/// Extremes of the scores over the active points, by group (see Slopes).
struct Violation {
  double max_up[2];
  double min_down[2];
  double gap = 0;  ///< the larger of the groups' max_up - min_down; may be negative
  double middle(int group) const { return (max_up[group] + min_down[group]) / 2; }
};

/// beta of all points; F, slopes of the active ones. Invariants: F of an active point is exact for
/// the current beta. A resting point's F is exact for the beta at the time it was put to rest,
/// which its Rest remembers, so that waking it costs only the coefficients that changed since.
class ActiveSet {
 public:
  /// Begins with the given points active, at problem.start.
  ActiveSet(const Problem& problem, RowSource& source, std::vector<Index> first_points);

  Index size() const { return static_cast<Index>(points_.size()); }
  bool is_complete() const { return size() == problem_.size(); }
  std::span<const Index> points() const { return points_; }
  /// Position of a point among the active ones, or -1.
  Index place_of(Index point) const { return place_[static_cast<std::size_t>(point)]; }
  double beta(Index point) const { return beta_[static_cast<std::size_t>(point)]; }
  std::span<const double> all_beta() const { return beta_; }
  double sum_at(Index place) const { return sums_[static_cast<std::size_t>(place)]; }
  double up_score(Index place) const {
    return up_[static_cast<std::size_t>(place)] - sums_[static_cast<std::size_t>(place)];
  }
  double down_score(Index place) const {
    return down_[static_cast<std::size_t>(place)] - sums_[static_cast<std::size_t>(place)];
  }

  /// Computes F for the starting beta. False when told to stop.
  bool start();

  Violation measure() const;

  /// Sets beta of some active points and brings F up to date. False when told to stop; beta is then
  /// as before, F unusable.
  bool change(std::span<const Index> points, std::span<const double> new_beta);

  /// Puts points to rest that sit at a bound and are far from leaving it, if they are a good part
  /// of the active set.
  void rest_hopeless(const Violation& violation);

  /// Brings F of all resting points up to date and wakes at most `most` of those that violate by
  /// more than eps / 2, worst first. Returns how many woke, or -1 when told to stop.
  Index wake_violators(const Violation& violation, double eps, Index most);

  /// F of every point, for the report. Call after wake_violators() returned 0, or with nothing
  /// resting.
  std::vector<double> all_sums() const;

 private:
  // Points put to rest together, with the non-zero coefficients of that moment.
  struct Rest {
    std::vector<Index> points;
    std::vector<std::pair<Index, double>> coefficients;
  };

  void refresh_slopes(Index place);
  bool is_hopeless(Index place, const Violation& violation) const;
  void adopt(std::vector<Index> points);
  std::vector<std::pair<Index, double>> nonzero_coefficients() const;
  bool bring_up_to_date(const Rest& rest);

  const Problem& problem_;
  RowSource& source_;
  std::vector<double> beta_;          // every point
  std::vector<double> resting_sums_;  // F of resting points, by point
  std::vector<Index> place_;          // by point
  std::vector<Index> points_;         // active, in order
  std::vector<double> sums_;          // F, by place
  std::vector<double> up_;            // slopes, by place
  std::vector<double> down_;
  std::vector<Rest> rests_;
};

}  // namespace tamis::qp

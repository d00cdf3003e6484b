// The points the solver currently looks at, compactly stored, and what it needs to bring the others
// back. On several ranks each has the set of its own points; sizes, extremes and decisions are
// those of all.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/infinity.hpp"
#include "qp/problem.hpp"
#include "qp/row_source.hpp"
#include "qp/solver_state.hpp"
#include "tamis/group.hpp"

namespace tamis::qp {

/// Extremes of the scores over the active points, by group (see Slopes).
struct Violation {
  double max_up[2];
  double min_down[2];
  double gap = 0;  ///< the larger of the groups' max_up - min_down; may be negative
  double middle(int group) const { return (max_up[group] + min_down[group]) / 2; }
};

/// Whether shrinking may set a point aside: it is at a bound, and would not leave it next, nor soon
/// (LIBSVM's rule). `to_rise` is how far its up score exceeds the smallest down score of its group,
/// `to_fall` how far its down score falls short of the largest up score; -infinity where it cannot.
/// No branches: a processor would guess wrong about every second point.
inline bool is_hopeless(double to_rise, double to_fall) {
  const int would_stay = std::max(to_rise, to_fall) < 0 ? 1 : 0;
  const int at_bound = std::min(to_rise, to_fall) == -kInfinity ? 1 : 0;
  return (would_stay & at_bound) != 0;
}

/// One point of a block, as every rank knows it.
struct BlockPoint {
  PointName name;
  std::int64_t group = 0;
  double target = 0;
  double lower = 0;
  double upper = 0;
  double ridge = 0;
  double diagonal = 0;
  double beta = 0;
  double sum = 0;  ///< F
};

/// beta of all points; F, slopes of the active ones. Invariants: F of an active point is exact for
/// the current beta. A resting point's F is exact for the beta at the time it was put to rest,
/// which its Rest remembers, so that waking it costs only the coefficients that changed since.
class ActiveSet {
 public:
  /// Begins with the given points of this rank active, at problem.start, whose non-zero
  /// coefficients must be among them.
  ActiveSet(const Problem& problem, RowSource& source, Group& group, RowVector<Index> first_points);

  Group& group() const { return group_; }
  /// Of this rank.
  Index size() const { return static_cast<Index>(points_.size()); }
  /// Of all ranks.
  Index total_size() const { return total_size_; }
  bool is_complete() const { return total_size_ == total_points_; }
  std::span<const Index> points() const { return points_; }
  /// Position of a point among the active ones, or -1.
  Index place_of(Index point) const { return place_[static_cast<std::size_t>(point)]; }
  double beta(Index point) const { return beta_[static_cast<std::size_t>(point)]; }
  const RowVector<double>& all_beta() const { return beta_; }
  double up_score(Index place) const {
    return up_[static_cast<std::size_t>(place)] - sums_[static_cast<std::size_t>(place)];
  }
  double down_score(Index place) const {
    return down_[static_cast<std::size_t>(place)] - sums_[static_cast<std::size_t>(place)];
  }
  std::uint64_t key_at(Index place) const {
    return problem_.key_at(points_[static_cast<std::size_t>(place)]);
  }
  PointName name_of(Index point) const { return {group_.rank(), 0, point}; }

  /// Computes F for the starting beta. False when told to stop.
  bool start();

  Violation measure() const;

  /// These active points as they stand.
  std::vector<BlockPoint> look_at(std::span<const PointName> names) const;

  /// The objective at the current beta, kept up to date by change().
  double objective() const { return objective_; }

  /// Sets beta of some active points, each to another value, and brings F up to date; `numbers` are
  /// their names for the row source. False when told to stop: then nothing has changed.
  bool change(std::span<const BlockPoint> points, std::span<const Index> numbers,
              std::span<const double> new_beta);

  /// Shrinking: sets points aside that are at a bound and far from leaving it, if they are a good
  /// part of the active set; this rank has `count` of them. False: nothing changed.
  bool rest_hopeless(const Violation& violation, Index count);
  /// How often it has done so.
  int times_rested() const { return times_rested_; }

  /// Brings F of resting points up to date and wakes at most `most` of those that violate by more
  /// than eps / 2, worst first. Points that were further than `reach` from violating when their F
  /// was computed last are left as they are. Returns how many woke, or -1 when told to stop.
  Index wake_violators(const Violation& violation, double eps, Index most, double reach);

  /// This rank's part of the state, and back: `parts` are those of all ranks of an earlier run.
  void write_to(SolverState* state) const;
  void restore(std::span<const SolverState> parts);

  /// F of every point of this rank, for the report. Call after wake_violators() with an infinite
  /// reach returned 0, or with nothing resting.
  RowVector<double> all_sums() const;

 private:
  // Points put to rest together, with the non-zero coefficients of that moment.
  struct Rest {
    RowVector<Index> points;
    RowVector<std::pair<Index, double>> coefficients;
  };
  // A coefficient, or the change of one, of a point of any rank.
  struct Term {
    std::uint64_t key = 0;
    PointName name;
    double value = 0;
  };

  Rest empty_rest() const;
  void refresh_slopes(Index place);
  double excess_of_resting(Index point, const Violation& violation) const;
  std::optional<Rest> look_at_resting(const Violation& violation, double reach);
  void adopt(RowVector<Index> points);
  RowVector<std::pair<Index, double>> nonzero_coefficients() const;
  RowVector<Term> in_order_of_all(RowVector<Term> mine) const;
  template <typename Add>
  bool add_terms(std::span<const Term> terms, std::size_t at_once, const Add& add);
  bool bring_up_to_date(const Rest& rest);

  const Problem& problem_;
  RowSource& source_;
  Group& group_;
  Index total_points_;
  Index total_size_ = 0;
  RowVector<double> beta_;          // every point
  RowVector<double> resting_sums_;  // F of resting points, by point
  RowVector<Index> place_;          // by point
  RowVector<Index> points_;         // active, in order
  RowVector<double> sums_;          // F, by place
  RowVector<double> up_;            // slopes, by place
  RowVector<double> down_;
  RowVector<double> next_sums_;  // see change()
  std::vector<Rest> rests_;      // as many on every rank
  double objective_ = 0;
  int times_rested_ = 0;
};

}  // namespace tamis::qp

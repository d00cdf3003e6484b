// The points of Newton's method: what it keeps of each, their ramps, and which of them it looks at.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.hpp"
#include "base/infinity.hpp"
#include "base/parallel.hpp"
#include "base/row_vector.hpp"
#include "linear/block_sums.hpp"
#include "linear/problem.hpp"
#include "qp/stopping.hpp"

namespace tamis::linear {

/// Changes from step to step. Target and cost are read where the problem has them: where memory is
/// short, all of this lies in files, and what is not changed need not be written.
struct NewtonPoint {
  double pull = 0;    ///< width / C times the center
  double value = 0;   ///< w'x + offset
  double change = 0;  ///< of the value, for a whole step
  double b = 0;
};

/// A hinge, or the edge of a tube, is a ramp of some width in C / width b; a squared loss has none.
class NewtonPoints {
 public:
  NewtonPoints(const Problem& problem, const BlockSums& sums)
      : problem_(problem),
        sums_(sums),
        points_(usize(problem.size()), problem.store),
        is_regression_(problem.task == Task::regression),
        tube_(is_regression_ ? problem.tube : 0),
        has_ramps_(problem.loss == SlackLoss::l1) {}

  bool has_ramps() const { return has_ramps_; }
  void set_width(double width) {
    if (has_ramps_) steepness_ = 1 / width;
  }

  NewtonPoint& operator[](Index i) { return points_[usize(i)]; }
  const NewtonPoint& operator[](Index i) const { return points_[usize(i)]; }

  /// 1 / (curvature of the dual along b_i, without that of w).
  double give(Index i) const { return problem_.cost[usize(i)] * steepness_; }
  std::pair<double, double> bounds(Index i) const {
    const double bound = has_ramps_ ? problem_.cost[usize(i)] : kInfinity;
    const double target = problem_.target[usize(i)];
    return {is_regression_ || target < 0 ? -bound : 0, is_regression_ || target > 0 ? bound : 0};
  }
  /// The b_i at which the proximal dual is least for this value.
  double coefficient(Index i, double value) const {
    double rest = problem_.target[usize(i)] - value + points_[usize(i)].pull;
    rest = rest > tube_ ? rest - tube_ : rest < -tube_ ? rest + tube_ : 0;
    const auto [lower, upper] = bounds(i);
    return std::clamp(rest * give(i), lower, upper);
  }
  /// The b_i around which a ramp has the kink of the loss in its middle.
  double middle(Index i) const {
    return has_ramps_ && !is_regression_ ? problem_.target[usize(i)] * problem_.cost[usize(i)] / 2
                                         : 0;
  }

  /// From now on, one of `parts` equal parts of the points is looked at. Points of a block are in
  /// the order of their hashes, and so are the blocks: any of them are a random sample. Whole
  /// blocks, as far as enough are left for all threads and ranks, because the system reads files
  /// ahead.
  void look_at(Index parts) {
    constexpr Index kEnoughBlocks = 64;
    parts_ = parts;
    block_step_ = std::min(parts, std::max<Index>(1, sums_.blocks() / kEnoughBlocks));
  }
  /// How many points each that is looked at stands for.
  double share() const { return static_cast<double>(parts_); }

  /// Calls body(i) for the points looked at of a block, which begins and ends there, while there is
  /// time: what is missing then is not looked at.
  template <typename Body>
  void each_of_block(Index begin, Index end, const qp::StopCheck& stop, const Body& body) const {
    constexpr Index kBetweenChecks = 4096;
    const Index last = end_of_sample(begin, end);
    for (Index first = begin; first < last; first += kBetweenChecks) {
      if (stop.interrupted()) return;
      for (Index i = first; i < std::min(first + kBetweenChecks, last); ++i) body(i);
    }
  }
  /// Calls body(i) for all points looked at, on all threads, whether there is time or not.
  template <typename Body>
  void each(const Body& body) const {
    parallel_each(sums_.blocks(), [&](Index block) {
      const Index begin = sums_.block_begin(block);
      const Index end = end_of_sample(begin, sums_.block_begin(block + 1));
      for (Index i = begin; i < end; ++i) body(i);
    });
  }

 private:
  Index end_of_sample(Index begin, Index end) const {
    if (begin == end || sums_.block_at(begin) % block_step_ != 0) return begin;
    const Index parts = parts_ / block_step_;
    return begin + (end - begin + parts - 1) / parts;
  }

  const Problem& problem_;
  const BlockSums& sums_;
  RowVector<NewtonPoint> points_;
  bool is_regression_;
  double tube_;  // 0 for classes
  bool has_ramps_;
  double steepness_ = 2;  // of the ramps, for a cost of 1
  Index parts_ = 1;
  Index block_step_ = 1;  // every so many-th block is looked at
};

/// The factor, at most `most`, that is the same for all steps that bring a width down by `ratio`.
inline double even_factor(double ratio, double most) {
  if (!(ratio > 1) || !std::isfinite(ratio)) return most;
  const double steps = std::ceil(std::log(ratio) / std::log(most));
  return std::max(2.0, std::pow(ratio, 1 / steps));
}

}  // namespace tamis::linear

// OptMargin and OptSoftMargin: the exact margin of many points from draws of few.
// J. L. Balcazar, Y. Dai, J. Tanaka, O. Watanabe, "Provably fast training algorithms for support
// vector machines", 2008, Figures 1 and 3.
//
// Every point has a weight, 1 at first. A round draws r points by weight, solves for these alone,
// and looks at all others: those that the answer puts on the wrong side of its own margin are the
// violators V. If their weight u(V) is at most u(X) / (3 delta), it is doubled. Without a violator
// the answer is the optimum of the full problem.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "methods/common/method.hpp"
#include "methods/sampling/draw_margin.hpp"
#include "methods/sampling/weighted_urn.hpp"

namespace tamis {

struct ReweightingSettings {
  double eps = 1e-3;     ///< largest violation of an accepted answer, in margins
  Index first_draw = 0;  ///< r of the first round
  double delta = 1;      ///< of the first round: the guess for the combinatorial dimension
  /// An upper bound of the combinatorial dimension, which is the delta of the theorem; infinite:
  /// none is known.
  double dimension = std::numeric_limits<double>::infinity();
  StalledDelta stalled_delta = StalledDelta::halve;
  /// Violators on the wrong side of the boundary also count half as much from then on.
  bool discount_outliers = false;
  /// Also take the support vectors of the last answer along. Without it r is all that is drawn.
  bool carry_support = true;
  std::uint64_t seed = 0;
  RowStore store = {};           ///< of the numbers for each point
  std::uint64_t stream = 0;      ///< one for each machine
  qp::StatusCallback on_status;  ///< told after every round: pair updates, violation, points drawn
};

/// An answer that was compared with all points.
struct CheckedMargin {
  DrawMargin margin;
  RowVector<double> values;  ///< f of every point; empty: there is no answer yet
  double violation = 0;      ///< the largest of any point, in margins
};

/// One round, for the report.
struct ReweightingRound {
  double k = 0;  ///< of `hulls`; 0 else
  Index drawn = 0;
  double delta = 0;
  Index support = 0;
  Index violators = 0;
  double violator_share = 0;  ///< u(V) / u(X)
  bool is_successful = false;
};

class Reweighting {
 public:
  enum class Outcome {
    certified,      ///< no point violates: the answer is the optimum
    not_separated,  ///< some draw has hulls that meet: there is no margin at all
    stopped,        ///< by a limit, the caller, or the precision of the kernel values
  };

  /// `points` and `context` must outlive this. Weights of `points` change if outliers are
  /// discounted.
  Reweighting(MarginPoints& points, const TrainContext& context,
              const ReweightingSettings& settings);

  /// Runs to the end. A second call, with another form, goes on with the weights and the support
  /// vectors found so far.
  Outcome run(const MarginForm& form);

  const CheckedMargin& answer() const { return answer_; }
  /// Goes back to an earlier answer.
  void restore(CheckedMargin answer) { answer_ = std::move(answer); }
  StopReason stop_reason() const { return stop_reason_; }
  const std::vector<ReweightingRound>& rounds() const { return rounds_; }
  Index draw_size() const { return draw_size_; }
  /// 6 delta ln n, if this was the theorem's algorithm from the first round to the last: one form,
  /// one tolerance, delta the combinatorial dimension, draws of 6 delta^2 points at least. Its
  /// proof also covers draws that a set S fixed before joins, as carried support vectors do: what a
  /// draw R determines together with S has no larger a dimension.
  std::optional<double> theorem_bound() const;
  /// How often the weight of each point was halved; empty if no outliers are discounted.
  const RowVector<std::int8_t>& discounts() const { return discounts_; }
  const EvaluationCounts& counts() const { return counts_; }
  std::int64_t iterations() const { return iterations_; }

 private:
  std::vector<Index> choose_draw(const MarginForm& form);
  bool has_answer() const { return !answer_.values.empty(); }
  bool check_all(DrawMargin local, const MarginForm& form);
  double add_offset(const DrawMargin& local, const MarginForm& form, Index begin, Index end,
                    std::span<double> values) const;
  bool needs_double() const;
  double unit() const { return std::min(1.0, points_.unit(answer_.margin.w)); }
  RowVector<Index> violators(std::span<const Index> draw, double eps) const;
  ReweightingRound describe(const MarginForm& form, std::span<const Index> draw,
                            std::span<const Index> found) const;
  void discount(Index point, const MarginForm& form);
  void adapt(bool is_successful);
  void change_delta(bool too_heavy, bool too_many);
  bool must_stop();

  MarginPoints& points_;
  const TrainContext& context_;
  ReweightingSettings settings_;
  RowVector<std::int8_t> signs_;
  RowVector<std::int8_t> discounts_;
  double sign_weight_[2] = {0, 0};  // of the points with sign +1, -1
  WeightedUrn urn_;
  Random random_;
  Index draw_size_;
  double delta_;
  double first_eps_;  // of the first rounds; the paper's own algorithm knows one tolerance
  bool follows_theorem_;
  bool has_run_ = false;
  Index rounds_at_this_size_ = 0;
  bool in_double_ = false;  // passes over all points: float would show beside eps
  int failures_ = 0;        // rounds in a row that doubled nothing
  CheckedMargin answer_;
  StopReason stop_reason_ = StopReason::converged;
  std::vector<ReweightingRound> rounds_;
  EvaluationCounts counts_;
  std::int64_t iterations_ = 0;
};

/// The paper's bound on the expected number of rounds, 6 delta ln n.
double round_bound(double delta, Index points);

}  // namespace tamis

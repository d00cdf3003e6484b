// How much each member of an ensemble counts, and which candidate becomes the next member.
//
// All is judged on values of rows a member has not seen: where it was trained on a row, the mean of
// what the other members say of that row stands in for its own value. A member fits its own rows
// better than any others, and a linear machine that sees those values learns to trust it too much.
#pragma once

#include <span>
#include <vector>

#include "linear/solve.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// What one machine says of the rows that machines are judged on.
struct MemberValues {
  std::vector<float> values;  ///< one a row
  std::vector<Index> seen;    ///< rows it was trained on, ascending
};

class EnsembleWeights {
 public:
  /// `targets` (+1 or -1) and `weights` of the rows must outlive it. `cost`: C of the linear
  /// machine, which the rows share by their weights.
  EnsembleWeights(Combination combination, double cost, std::span<const double> targets,
                  std::span<const double> weights, std::uint64_t seed);

  /// The candidate with which the ensemble would do best. Average: the fewest errors. Linear: the
  /// greatest fall of the linear machine's loss along the candidate, the others' weights kept.
  std::size_t choose(std::span<const MemberValues> candidates) const;
  /// Takes a member in; linear machines give it the weight that choose() looks for.
  void add(MemberValues member);
  /// Whether the weights of all members should be found anew: now and then as the ensemble grows,
  /// so that all of it takes a few times as long as the last.
  bool wants_solving() const;
  /// Finds them by the linear machine, beginning where it last ended.
  StopReason solve(const qp::Limits& limits, const RunControl& control);

  Index size() const { return static_cast<Index>(member_weights_.size()); }
  std::vector<double> member_weights() const;
  double offset() const { return offset_; }
  /// Weighted share of rows on the right side, as members that did not see a row say, and as all
  /// say.
  double accuracy() const { return share_right(unseen_); }
  double training_accuracy() const { return share_right(all_); }
  std::int64_t epochs() const { return epochs_; }

  /// Bytes it takes for an ensemble of so many members.
  static Index work_bytes(Combination combination, Index rows, Index members);

 private:
  bool is_average() const { return combination_ == Combination::average; }
  /// Values with stand-ins for those of rows the member has seen.
  std::vector<float> honest_values(const MemberValues& member) const;
  double best_step(std::span<const float> values) const;
  double loss_along(std::span<const float> values, double step) const;
  double errors_with(const MemberValues& candidate) const;
  double share_right(std::span<const double> sums) const;
  Matrix value_matrix() const;

  Combination combination_;
  double cost_;
  std::span<const double> targets_;
  std::span<const double> weights_;
  std::uint64_t seed_;
  std::vector<double> member_weights_;  // linear
  double offset_ = 0;
  std::vector<MemberValues> members_;  // linear
  std::vector<double> beta_;           // of the linear machine when it last ended
  Index solved_size_ = 0;
  std::int64_t epochs_ = 0;
  std::vector<double> unseen_sum_;   // of the members that have not seen the row
  std::vector<Index> unseen_count_;  // how many these are
  std::vector<double> unseen_;       // the ensemble's value from them
  std::vector<double> all_;          // its value from all members
};

}  // namespace tamis

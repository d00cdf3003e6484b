#include "methods/ensemble/ensemble_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

constexpr double kGrowth = 3;       // of the ensemble between two solutions
constexpr double kLargestStep = 8;  // weight of a member whose values are about 1
constexpr int kBins = 4096;         // of steps
constexpr Index kRowsAtOnce = 1024;

}  // namespace

EnsembleWeights::EnsembleWeights(Combination combination, double cost,
                                 std::span<const double> targets, std::span<const double> weights,
                                 std::uint64_t seed)
    : combination_(combination),
      cost_(cost),
      targets_(targets),
      weights_(weights),
      seed_(seed),
      unseen_sum_(targets.size(), 0.0),
      unseen_count_(targets.size(), 0),
      unseen_(targets.size(), 0.0),
      all_(targets.size(), 0.0) {}

std::vector<float> EnsembleWeights::honest_values(const MemberValues& member) const {
  std::vector<float> values = member.values;
  for (const Index row : member.seen) {
    const std::size_t i = usize(row);
    if (unseen_count_[i] > 0)
      values[i] = static_cast<float>(unseen_sum_[i] / static_cast<double>(unseen_count_[i]));
  }
  return values;
}

// The slope of the hinge loss only rises with the step: by weight * |value| where a row's margin
// passes 1. The rises are gathered in bins, and the minimum is in the bin where they make up for
// the slope at the lowest step.
double EnsembleWeights::best_step(std::span<const float> values) const {
  const double low = combination_ == Combination::nonnegative ? 0 : -kLargestStep;
  const double bin_width = (kLargestStep - low) / kBins;
  std::vector<double> rises(kBins, 0.0);
  double slope = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double gain = targets_[i] * static_cast<double>(values[i]);
    if (gain == 0) continue;
    const double rise = weights_[i] * std::abs(gain);
    const double passes_at = (1 - targets_[i] * unseen_[i]) / gain;
    const double bin = (passes_at - low) / bin_width;
    if (gain > 0) slope -= rise;
    if (bin < 0)
      slope += rise;
    else if (bin < kBins)
      rises[static_cast<std::size_t>(bin)] += rise;
  }
  if (slope >= 0) return low;
  for (int k = 0; k < kBins; ++k) {
    slope += rises[usize(k)];
    if (slope >= 0) return low + (k + 0.5) * bin_width;
  }
  return kLargestStep;
}

double EnsembleWeights::loss_along(std::span<const float> values, double step) const {
  double loss = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = unseen_[i] + step * static_cast<double>(values[i]);
    loss += weights_[i] * std::max(0.0, 1 - targets_[i] * value);
  }
  return loss;
}

double EnsembleWeights::errors_with(const MemberValues& candidate) const {
  const std::vector<float> values = honest_values(candidate);
  double errors = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = unseen_sum_[i] + static_cast<double>(values[i]);
    if ((value > 0) != (targets_[i] > 0)) errors += weights_[i];
  }
  return errors;
}

std::size_t EnsembleWeights::choose(std::span<const MemberValues> candidates) const {
  if (candidates.size() == 1) return 0;
  std::vector<double> loss(candidates.size());
  parallel_each(static_cast<Index>(candidates.size()), [&](Index c) {
    if (is_average()) {
      loss[usize(c)] = errors_with(candidates[usize(c)]);
    } else {
      const std::vector<float> values = honest_values(candidates[usize(c)]);
      loss[usize(c)] = loss_along(values, best_step(values));
    }
  });
  return static_cast<std::size_t>(std::min_element(loss.begin(), loss.end()) - loss.begin());
}

void EnsembleWeights::add(MemberValues member) {
  const std::vector<float> honest = honest_values(member);
  const double step = is_average() ? 1 : best_step(honest);
  std::size_t next_seen = 0;
  const double count = static_cast<double>(size());
  for (std::size_t i = 0; i < member.values.size(); ++i) {
    const double value = static_cast<double>(member.values[i]);
    const bool seen =
        next_seen < member.seen.size() && member.seen[next_seen] == static_cast<Index>(i);
    if (seen) ++next_seen;
    if (!seen) {
      unseen_sum_[i] += value;
      ++unseen_count_[i];
    }
    if (is_average()) {
      all_[i] = (all_[i] * count + value) / (count + 1);
      unseen_[i] =
          unseen_count_[i] > 0 ? unseen_sum_[i] / static_cast<double>(unseen_count_[i]) : all_[i];
    } else {
      all_[i] += step * value;
      unseen_[i] += step * static_cast<double>(honest[i]);
    }
  }
  member_weights_.push_back(step);
  if (!is_average()) members_.push_back(std::move(member));
}

bool EnsembleWeights::wants_solving() const {
  return !is_average() &&
         static_cast<double>(size()) >= kGrowth * static_cast<double>(solved_size_);
}

Matrix EnsembleWeights::value_matrix() const {
  const auto rows = static_cast<Index>(targets_.size());
  const std::size_t members = members_.size();
  std::vector<float> matrix(usize(checked_product(rows, size())));
  parallel_ranges(rows, kRowsAtOnce, [&](Index begin, Index end) {
    for (std::size_t m = 0; m < members; ++m) {
      for (Index i = begin; i < end; ++i)
        matrix[usize(i) * members + m] = members_[m].values[usize(i)];
      const std::vector<Index>& seen = members_[m].seen;
      for (auto row = std::lower_bound(seen.begin(), seen.end(), begin);
           row != seen.end() && *row < end; ++row) {
        const std::size_t i = usize(*row);
        if (unseen_count_[i] > 0)
          matrix[i * members + m] =
              static_cast<float>(unseen_sum_[i] / static_cast<double>(unseen_count_[i]));
      }
    }
  });
  return Matrix::dense(rows, size(), std::move(matrix));
}

StopReason EnsembleWeights::solve(const qp::Limits& limits, const RunControl& control) {
  if (is_average() || solved_size_ == size()) return StopReason::converged;
  std::vector<double> cost;
  const double whole = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (const double weight : weights_) cost.push_back(cost_ * weight / whole);
  linear::Problem problem;
  problem.features = value_matrix();
  problem.target = targets_;
  problem.cost = cost;
  problem.bias = {Bias::Rule::penalized, 1};
  problem.nonnegative = combination_ == Combination::nonnegative;
  problem.start = beta_;
  qp::StopCheck stop(limits, control);
  linear::Solution solution = linear::solve(problem, stop, seed_);
  epochs_ += solution.epochs;
  // Stopped before it began: the weights so far are better.
  if (solution.epochs == 0) return solution.stop_reason;
  solved_size_ = size();
  beta_.assign(solution.beta.begin(), solution.beta.end());
  member_weights_ = std::move(solution.weights);
  offset_ = solution.offset;
  parallel_ranges(problem.features.rows(), kRowsAtOnce, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto honest = problem.features.dense_row(i);
      double unseen = offset_;
      double all = offset_;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        unseen += member_weights_[m] * static_cast<double>(honest[m]);
        all += member_weights_[m] * static_cast<double>(members_[m].values[usize(i)]);
      }
      unseen_[usize(i)] = unseen;
      all_[usize(i)] = all;
    }
  });
  return solution.stop_reason;
}

std::vector<double> EnsembleWeights::member_weights() const {
  if (!is_average()) return member_weights_;
  return std::vector<double>(member_weights_.size(), 1 / static_cast<double>(size()));
}

double EnsembleWeights::share_right(std::span<const double> sums) const {
  double right = 0;
  double whole = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    whole += weights_[i];
    if ((sums[i] > 0) == (targets_[i] > 0)) right += weights_[i];
  }
  return right / whole;
}

Index EnsembleWeights::work_bytes(Combination combination, Index rows, Index members) {
  const Index sums = checked_product(rows, 4 * sizeof(double));
  if (combination == Combination::average) return sums;
  // Each value as it is, in the matrix, and in the solver's copy of that.
  return sums + checked_product(checked_product(rows, members), 3 * sizeof(float)) +
         linear::memory_bytes(rows, members) + linear::point_bytes(rows, members);
}

}  // namespace tamis

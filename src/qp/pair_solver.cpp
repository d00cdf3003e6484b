#include "qp/pair_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "qp/pair_steps.hpp"

namespace tamis::qp {
namespace {

/// Works on changes of F only, and on scores relative to their middle: what is near the optimum is
/// then near zero, where float is finest.
template <typename Real>
class PairSolver {
 public:
  PairSolver(const Problem& problem, const SubProblem& part, const PairLimits& limits);
  PairResult solve();

 private:
  struct Pair {
    Index i = -1;
    Index j = -1;
    double up_score = 0;
  };

  bool is_filler(Index k) const { return part_.points[usize(k)] == kFiller; }
  double score_of_down(Index k) const {
    return static_cast<double>(down_[usize(k)]) - static_cast<double>(sums_[usize(k)]);
  }
  void set_slopes(Index k);
  /// The group whose gap is larger, and that gap.
  int widest_group(double* gap) const;
  bool choose_pair(int group, Pair* pair) const;
  double curvature(const Pair& pair) const;
  /// How far the pair may move before a bound, or the kink of the tube at zero, is met.
  double longest_step(const Pair& pair) const;
  void move(Index k, double step);
  const float* row(Index k) const { return part_.kernel + k * part_.stride; }
  void need_row(Index k) const {
    if (part_.need_row) part_.need_row(k);
  }

  const Problem& problem_;
  const SubProblem& part_;
  const PairLimits& limits_;
  Index begin_[2];
  Index end_[2];
  Extremes extremes_[2];
  std::vector<double> base_;  // F at entry, plus the middle of the scores
  std::vector<Real> sums_;    // change of F since entry
  std::vector<Real> up_;
  std::vector<Real> down_;
  std::vector<Real> diagonal_;
  PairArrays<Real> arrays_;
};

template <typename Real>
PairSolver<Real>::PairSolver(const Problem& problem, const SubProblem& part,
                             const PairLimits& limits)
    : problem_(problem), part_(part), limits_(limits) {
  const Index size = static_cast<Index>(part.points.size());
  const Index padded = round_up(size, kPairPadding);
  constexpr Real kRealInfinity = std::numeric_limits<Real>::infinity();
  begin_[0] = 0;
  end_[0] = round_up(part.group_split, kPairPadding);
  begin_[1] = end_[0];
  end_[1] = padded;
  sums_.assign(usize(padded), 0);
  up_.assign(usize(padded), -kRealInfinity);
  down_.assign(usize(padded), kRealInfinity);
  diagonal_.assign(usize(padded), 1);
  base_.assign(usize(size), 0);
  double max_up = -std::numeric_limits<double>::infinity();
  double min_down = -max_up;
  for (Index k = 0; k < size; ++k) {
    if (is_filler(k)) continue;
    const Slopes slopes = slopes_at(problem, part.points[usize(k)], part.beta[usize(k)]);
    max_up = std::max(max_up, slopes.up - part.sums[usize(k)]);
    min_down = std::min(min_down, slopes.down - part.sums[usize(k)]);
  }
  const double middle =
      std::isfinite(max_up) && std::isfinite(min_down) ? (max_up + min_down) / 2 : 0;
  for (Index k = 0; k < size; ++k) {
    if (is_filler(k)) continue;
    diagonal_[usize(k)] = static_cast<Real>(part.diagonal[usize(k)]);
    base_[usize(k)] = part.sums[usize(k)] + middle;
    set_slopes(k);
  }
  arrays_ = {sums_.data(), up_.data(), down_.data(), diagonal_.data()};
}

template <typename Real>
void PairSolver<Real>::set_slopes(Index k) {
  const Slopes slopes = slopes_at(problem_, part_.points[usize(k)], part_.beta[usize(k)]);
  up_[usize(k)] = static_cast<Real>(slopes.up - base_[usize(k)]);
  down_[usize(k)] = static_cast<Real>(slopes.down - base_[usize(k)]);
}

template <typename Real>
int PairSolver<Real>::widest_group(double* gap) const {
  const double gap0 = extremes_[0].max_up - extremes_[0].min_down;
  const double gap1 = extremes_[1].max_up - extremes_[1].min_down;
  *gap = std::max(gap0, gap1);
  return gap1 > gap0 ? 1 : 0;
}

template <typename Real>
bool PairSolver<Real>::choose_pair(int group, Pair* pair) const {
  pair->i = extremes_[group].argmax_up;
  pair->up_score = extremes_[group].max_up;
  if (pair->i < 0) return false;
  need_row(pair->i);
  pair->j = find_partner(arrays_, row(pair->i), pair->up_score, part_.diagonal[usize(pair->i)],
                         begin_[group], end_[group]);
  return pair->j >= 0;
}

template <typename Real>
double PairSolver<Real>::curvature(const Pair& pair) const {
  const double cross = static_cast<double>(row(pair.i)[pair.j]);
  return std::max(part_.diagonal[usize(pair.i)] + part_.diagonal[usize(pair.j)] - 2 * cross, 1e-12);
}

template <typename Real>
double PairSolver<Real>::longest_step(const Pair& pair) const {
  const double beta_i = part_.beta[usize(pair.i)];
  const double beta_j = part_.beta[usize(pair.j)];
  double room_i = problem_.upper[usize(part_.points[usize(pair.i)])] - beta_i;
  double room_j = beta_j - problem_.lower[usize(part_.points[usize(pair.j)])];
  if (problem_.tube > 0 && beta_i < 0) room_i = std::min(room_i, -beta_i);
  if (problem_.tube > 0 && beta_j > 0) room_j = std::min(room_j, beta_j);
  return std::min(room_i, room_j);
}

// Lands exactly on a bound or on zero when that is where the step was cut: rounding must not leave
// a coefficient beside it.
template <typename Real>
void PairSolver<Real>::move(Index k, double step) {
  const std::size_t point = usize(part_.points[usize(k)]);
  const double lower = problem_.lower[point];
  const double upper = problem_.upper[point];
  double& beta = part_.beta[usize(k)];
  const double before = beta;
  beta = std::clamp(beta + step, lower, upper);
  const double rounding = 1e-14 * std::abs(step);
  if (upper - beta <= rounding) beta = upper;
  if (beta - lower <= rounding) beta = lower;
  if (std::abs(beta) <= rounding ||
      (problem_.tube > 0 && before != 0 && (before < 0) != (beta < 0)))
    beta = 0;
  set_slopes(k);
}

template <typename Real>
PairResult PairSolver<Real>::solve() {
  const int groups = end_[1] > begin_[1] ? 2 : 1;
  extremes_[1] = {-std::numeric_limits<double>::infinity(), -1,
                  std::numeric_limits<double>::infinity()};
  for (int g = 0; g < groups; ++g) extremes_[g] = find_extremes(arrays_, begin_[g], end_[g]);
  PairResult result;
  while (true) {
    Pair pair;
    const int group = widest_group(&result.gap);
    if (result.gap <= limits_.tolerance || result.iterations >= limits_.max_iterations) break;
    if (!choose_pair(group, &pair)) break;
    need_row(pair.j);
    const double newton = (pair.up_score - score_of_down(pair.j)) / curvature(pair);
    const double step = std::min(newton, longest_step(pair));
    move(pair.i, step);
    move(pair.j, -step);
    for (int g = 0; g < groups; ++g) {
      extremes_[g] =
          update_and_find_extremes(arrays_, row(pair.i), row(pair.j), step, begin_[g], end_[g]);
    }
    ++result.iterations;
  }
  return result;
}

}  // namespace

PairResult solve_pairs(const Problem& problem, const SubProblem& part, const PairLimits& limits) {
  if (limits.single_precision) return PairSolver<float>(problem, part, limits).solve();
  return PairSolver<double>(problem, part, limits).solve();
}

}  // namespace tamis::qp

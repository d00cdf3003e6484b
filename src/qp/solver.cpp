#include "qp/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/infinity.hpp"
#include "base/mix.hpp"
#include "qp/active_set.hpp"
#include "qp/block.hpp"
#include "qp/choice.hpp"
#include "qp/describe.hpp"
#include "qp/free_set.hpp"
#include "qp/pair_solver.hpp"
#include "qp/working_set.hpp"

namespace tamis::qp {
namespace {

// The active points are optimised to this share of the gap they woke up with before the resting
// ones are looked at again: more would polish what the newcomers are going to change.
constexpr double kStageShare = 0.1;

// Resting points further from violating than this many times the gap that a stage began with are
// not looked at when it ends.
constexpr double kReach = 1;

// Pairs the pair solver may do before limits and the caller's wish to stop are looked at: well
// under 100 ms.
constexpr std::int64_t kTurn = 20000;

// Pairs after which a small problem is taken to converge slowly: large coefficients on points that
// almost depend on each other need ever smaller steps. Then, as soon as pairs have taken as much
// work as that would, all free coefficients move at once if that leads to the optimum. When it does
// not, it is tried again after twice as many pairs.
constexpr std::int64_t kSlowPairs = kTurn;
// It may take this many times the work expected.
constexpr double kJumpPatience = 1.5;

// Pairs after which it may have stalled.
constexpr std::int64_t kManyPairs = 1'000'000;

// The next turns, twice as many, must bring the violation down to this share; else what is left is
// rounding of the kernel values, and pairs would move for ever.
constexpr double kStall = 0.9;

// Relative difference of two sums of the same numbers in another order, generously.
constexpr double kSumRounding = 1e-6;

class Solver {
 public:
  Solver(Group& group, const Problem& problem, RowSource& source, StopCheck& stop,
         const SolverOptions& options, const StatusCallback& on_status)
      : group_(group),
        problem_(problem),
        source_(source),
        stop_(stop),
        options_(options),
        on_status_(on_status),
        block_(group),
        float_is_enough_(float_is_enough()) {}

  Solution solve_stored();
  Solution solve_blocks();

 private:
  enum class Progress { moved, stuck, told_to_stop };
  /// Coefficients of all points, F, and what they violate.
  struct State {
    RowVector<double> beta;
    RowVector<double> sums;
    std::vector<double> block_sums;  ///< the same in the order of the block
    Violation violation;
  };

  State measured(Block& block) const;
  double jump_work(std::span<const double> beta) const;
  bool jump_pays(const State& state) const;
  std::optional<RowVector<double>> jump(RowVector<double> beta);
  Solution give_up();
  RowVector<Index> first_points() const;
  Progress improve_block(ActiveSet& active, std::span<const PointName> names, double gap);
  bool float_is_enough() const;
  PairLimits pair_limits(double tolerance) const;
  bool must_stop(bool* save_now);
  Index wake(ActiveSet& active, const Violation& violation, double stage_gap, Index most);
  void save(const ActiveSet& active, const WorkingSetChooser& chooser,
            const SolverState::Progress& progress);
  std::vector<double> solve_block(std::span<const BlockPoint> points,
                                  std::span<const PointName> names, std::span<const Index> numbers,
                                  double tolerance);
  Solution finish(RowVector<double> beta, RowVector<double> sums, const Violation& violation,
                  SumOrder order = SumOrder::of_points) const;
  Solution finish(State state) const {
    return finish(std::move(state.beta), std::move(state.sums), state.violation);
  }

  Group& group_;
  const Problem& problem_;
  RowSource& source_;
  StopCheck& stop_;
  const SolverOptions& options_;
  const StatusCallback& on_status_;
  Block block_;
  bool float_is_enough_;
  std::int64_t iterations_ = 0;
  std::int64_t blocks_ = 0;
};

// Rounding in float grows with the coefficients: it must stay well below eps. The diagonal of a
// kernel that is not positive definite may be negative.
bool Solver::float_is_enough() const {
  double largest = 0;
  for (Index i = 0; i < problem_.size(); ++i) {
    largest = std::max(largest, std::max(problem_.upper[usize(i)], -problem_.lower[usize(i)]) *
                                    std::abs(source_.diagonal()[usize(i)]));
  }
  return largest_of_all(group_, largest) * 1e-7 < 0.05 * stop_.limits().eps;
}

PairLimits Solver::pair_limits(double tolerance) const {
  PairLimits limits;
  limits.tolerance = tolerance;
  limits.max_iterations = std::min(kTurn, stop_.max_iterations() - iterations_);
  limits.single_precision = float_is_enough_;
  return limits;
}

// All ranks stop together, for the reason that comes first in the order of reasons. `save_now`: the
// first rank's clock decides.
bool Solver::must_stop(bool* save_now) {
  struct Wish {
    StopReason reason;
    int save;
  };
  stop_.must_stop(iterations_);
  const bool save =
      group_.rank() == 0 && options_.keeper != nullptr && options_.keeper->is_due(false);
  StopReason reason = StopReason::converged;
  *save_now = false;
  for (const Wish& wish : gather_values(group_, Wish{stop_.reason(), save ? 1 : 0})) {
    reason = std::max(reason, wish.reason);
    *save_now = *save_now || wish.save != 0;
  }
  stop_.adopt_reason(reason);
  return reason != StopReason::converged;
}

// A random part first: most of the early work is on a rough shape that a part of the points gives
// as well. Each point is drawn by its key alone, whoever has it.
RowVector<Index> Solver::first_points() const {
  const Index size = sum_of_all(group_, problem_.size());
  const bool all = options_.first_share >= 1 || options_.first_share * static_cast<double>(size) <
                                                    static_cast<double>(4 * options_.block_size);
  const Choice first(problem_.size(), problem_.store(), [&](Index i) {
    const std::uint64_t drawn = mix(mix(options_.seed + 0x5EED) ^ problem_.key_at(i));
    // A coefficient that is not zero must be active: it has to be able to move.
    return all || static_cast<double>(drawn >> 11) * 0x1p-53 < options_.first_share ||
           (!problem_.start.empty() && problem_.start[usize(i)] != 0);
  });
  return first.chosen([](Index i) { return i; });
}

// Small problems: the whole kernel matrix at once, and F from it in double after every turn of the
// pair solver. Where coefficients are so large that float kernel values are too coarse, F is made
// from more exact ones: the turns are then steps of an iterative refinement.
Solution Solver::solve_stored() {
  Block block;
  if (!block.lay_out(problem_, source_.diagonal(), source_, {}, {},
                     float_is_enough_ ? Block::Values::all : Block::Values::precise))
    return give_up();
  const auto go_to = [&block](std::span<const double> beta) {
    for (std::size_t k = 0; k < block.points().size(); ++k) {
      if (block.points()[k] != kFiller) block.beta()[k] = beta[usize(block.points()[k])];
    }
  };
  if (!problem_.start.empty()) go_to(problem_.start);
  std::int64_t next_jump = kSlowPairs;
  std::int64_t next_check = kManyPairs;
  double least_gap = kInfinity;    // since the last check
  double checked_gap = kInfinity;  // what it was then
  bool jumped = false;
  PairLimits limits = pair_limits(stop_.limits().eps);
  std::optional<Solution> best;  // of slow iterates, which need not become better
  while (true) {
    State state = measured(block);
    const double gap = state.violation.gap;
    least_gap = std::min(least_gap, gap);
    if (on_status_) on_status_({iterations_, gap, problem_.size()});
    if (gap <= stop_.limits().eps || stop_.must_stop(iterations_)) return finish(std::move(state));
    if (iterations_ >= kManyPairs) {
      Solution slow = finish(state);
      if (!best || slow.duality_gap < best->duality_gap) best = std::move(slow);
    }
    if (iterations_ >= next_jump && !jumped && jump_pays(state)) {
      next_jump = 2 * iterations_;
      if (const auto there = jump(state.beta)) {
        jumped = true;
        next_check = std::max(next_check, next_jump);
        go_to(*there);
        continue;
      }
    }
    if (iterations_ >= next_check) {
      if (!(least_gap < kStall * checked_gap)) {
        stop_.note_precision_limit();
        best->stop_reason = stop_.reason();
        best->iterations = iterations_;
        return *std::move(best);
      }
      if (next_check > kManyPairs) checked_gap = least_gap;
      least_gap = kInfinity;
      next_check = 2 * iterations_;
    }
    limits.max_iterations = pair_limits(limits.tolerance).max_iterations;
    const PairResult result = block.solve(problem_, state.block_sums, limits);
    if (result.iterations == 0 && !limits.single_precision) {
      // The pair solver adds up in another order: it may see the tolerance met by a last bit.
      if (gap > (1 + kSumRounding) * stop_.limits().eps) stop_.note_precision_limit();
      return finish(std::move(state));
    }
    if (result.iterations < limits.max_iterations) limits.single_precision = false;
    iterations_ += result.iterations;
  }
}

Solver::State Solver::measured(Block& block) const {
  State state{RowVector<double>(usize(problem_.size())), RowVector<double>(usize(problem_.size())),
              block.own_sums(), Violation{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}}};
  Violation& violation = state.violation;
  const std::vector<double>& block_sums = state.block_sums;
  for (std::size_t k = 0; k < block.points().size(); ++k) {
    const Index i = block.points()[k];
    if (i == kFiller) continue;
    state.beta[usize(i)] = block.beta()[k];
    state.sums[usize(i)] = block_sums[k];
    const Slopes slopes = slopes_at(problem_, i, block.beta()[k]);
    const int group = problem_.group_at(i);
    violation.max_up[group] = std::max(violation.max_up[group], slopes.up - block_sums[k]);
    violation.min_down[group] = std::min(violation.min_down[group], slopes.down - block_sums[k]);
  }
  violation.gap = std::max(violation.max_up[0] - violation.min_down[0],
                           violation.max_up[1] - violation.min_down[1]);
  return state;
}

// Of the steps alone.
double Solver::jump_work(std::span<const double> beta) const {
  Index free = 0;
  for (std::size_t i = 0; i < beta.size(); ++i)
    free += beta[i] != problem_.lower[i] && beta[i] != problem_.upper[i] ? 1 : 0;
  return free_set_work(problem_.size(), free);
}

// A pair takes two multiplications per point. A jump begins with the rows of all coefficients that
// are not 0, in double.
bool Solver::jump_pays(const State& state) const {
  constexpr Index kPreciseValue = 20;  // multiplications, about
  const double so_far = 2 * static_cast<double>(iterations_ * problem_.size());
  const Index rows =
      std::count_if(state.beta.begin(), state.beta.end(), [](double beta) { return beta != 0; });
  const auto of_rows = static_cast<double>(kPreciseValue * rows * problem_.size());
  return problem_.tube == 0 && so_far >= of_rows + jump_work(state.beta);
}

// Where pairs converge slowly: all free coefficients at once.
std::optional<RowVector<double>> Solver::jump(RowVector<double> beta) {
  const double most_work = kJumpPatience * jump_work(beta);
  Problem from_here = problem_;
  from_here.start = std::move(beta);
  auto found = solve_free_set(from_here, source_, stop_, most_work);
  if (!found) return std::nullopt;
  return std::move(found->beta);
}

// Told to stop before anything is known about the start but its coefficients.
Solution Solver::give_up() {
  stop_.must_stop(iterations_);
  const RowVector<double> zeros(usize(problem_.size()), 0.0);
  Solution solution = finish(problem_.start.empty() ? zeros : problem_.start, zeros,
                             Violation{{0, 0}, {0, 0}, kInfinity});
  if (!problem_.start.empty()) solution.objective = std::numeric_limits<double>::quiet_NaN();
  return solution;
}

Solution Solver::solve_blocks() {
  ActiveSet active(problem_, source_, group_, first_points());
  WorkingSetChooser chooser(options_.block_size);
  const double eps = stop_.limits().eps;
  double share = kStageShare;
  // For the active points, before the resting ones are looked at again; 0: to be set.
  double tolerance = 0;
  double stage_gap = 0;  // when the tolerance was set
  Index participants = active.total_size();
  Violation violation{{0, 0}, {0, 0}};
  const std::vector<SolverState> earlier =
      options_.keeper == nullptr ? std::vector<SolverState>() : options_.keeper->load();
  Progress step = Progress::moved;
  if (earlier.empty()) {
    if (!active.start()) step = Progress::told_to_stop;
  } else {
    const SolverState::Progress& progress = earlier[0].progress;
    active.restore(earlier);
    chooser.set_newest(earlier[0].newest, active, problem_);
    iterations_ = progress.iterations;
    share = progress.share;
    tolerance = progress.tolerance;
    stage_gap = progress.stage_gap;
    participants = progress.participants;
    float_is_enough_ = progress.float_is_enough != 0;
  }
  while (step == Progress::moved) {
    violation = active.measure();
    if (tolerance == 0) {
      tolerance = std::max(eps, share * violation.gap);
      stage_gap = violation.gap;
    }
    if (on_status_) on_status_({iterations_, violation.gap, active.total_size()});
    bool save_now = false;
    if (must_stop(&save_now)) break;
    if (save_now)
      save(active, chooser, {iterations_, 0, share, tolerance, participants, 0, 0, stage_gap});
    if (violation.gap <= (active.is_complete() ? eps : tolerance)) {
      const Index woken =
          wake(active, violation, stage_gap, std::max(participants, 4 * options_.block_size));
      if (woken < 0) step = Progress::told_to_stop;
      if (woken == 0 && violation.gap <= eps) break;
      participants += std::max<Index>(0, woken);
      // Few: the set is about right, so finish it.
      share = woken < active.total_size() / 100 ? 0 : kStageShare;
      tolerance = 0;
      continue;
    }
    Candidates candidates = chooser.find_candidates(active, problem_, violation);
    if (active.rest_hopeless(violation, candidates.hopeless))
      candidates = chooser.find_candidates(active, problem_, violation);
    step = improve_block(active, chooser.choose(active, candidates), violation.gap);
  }
  if (step == Progress::stuck) stop_.note_precision_limit();
  if (options_.keeper != nullptr && step == Progress::moved &&
      any_of_all(group_, group_.rank() == 0 && options_.keeper->is_due(true)))
    save(active, chooser, {iterations_, 0, share, tolerance, participants, 0, 0, stage_gap});
  bool unused = false;
  if (step == Progress::told_to_stop) must_stop(&unused);
  Solution solution = finish(active.all_beta(), active.all_sums(), violation, SumOrder::any);
  solution.objective = active.objective();
  return solution;
}

// Before the end, only resting points that were so near to violating, when they were looked at
// last, that this stage's changes may have made them violate; at the end, all.
Index Solver::wake(ActiveSet& active, const Violation& violation, double stage_gap, Index most) {
  const double eps = stop_.limits().eps;
  const Index woken = active.wake_violators(violation, eps, most, kReach * stage_gap);
  if (woken != 0 || violation.gap > eps) return woken;
  return active.wake_violators(violation, eps, most, std::numeric_limits<double>::infinity());
}

void Solver::save(const ActiveSet& active, const WorkingSetChooser& chooser,
                  const SolverState::Progress& progress) {
  SolverState state;
  state.progress = progress;
  state.progress.float_is_enough = float_is_enough_ ? 1 : 0;
  state.newest = chooser.newest(active, problem_);
  active.write_to(&state);
  options_.keeper->save(state);
}

// One block: optimize it alone to a fifth of the gap (less is redone when the others have moved,
// more takes more blocks), carry the change to everybody else.
Solver::Progress Solver::improve_block(ActiveSet& active, std::span<const PointName> names,
                                       double gap) {
  const std::vector<BlockPoint> points = active.look_at(names);
  const std::vector<Index> numbers = source_.bring(names);
  const double tolerance = std::max(0.2 * gap, 0.5 * stop_.limits().eps);
  const std::vector<double> beta = solve_block(points, names, numbers, tolerance);
  std::vector<BlockPoint> moved;
  std::vector<Index> moved_numbers;
  std::vector<double> new_beta;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (beta[k] == points[k].beta) continue;
    moved.push_back(points[k]);
    moved_numbers.push_back(numbers[k]);
    new_beta.push_back(beta[k]);
  }
  if (moved.empty() && float_is_enough_) {
    float_is_enough_ = false;  // what is left is below the rounding of float: go on in double
    return Progress::moved;
  }
  if (moved.empty()) return Progress::stuck;
  return active.change(moved, moved_numbers, new_beta) ? Progress::moved : Progress::told_to_stop;
}

// The new coefficients of the points.
std::vector<double> Solver::solve_block(std::span<const BlockPoint> points,
                                        std::span<const PointName> names,
                                        std::span<const Index> numbers, double tolerance) {
  ++blocks_;
  std::vector<double> diagonal;
  const Problem part = problem_of(points, problem_.tube, &diagonal);
  block_.lay_out(part, diagonal, source_, numbers, names, Block::Values::as_needed);
  const auto places = block_.points();
  std::vector<double> sums(places.size(), 0.0);
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k] == kFiller) continue;
    sums[k] = points[usize(places[k])].sum;
    block_.beta()[k] = points[usize(places[k])].beta;
  }
  iterations_ += block_.solve(part, sums, pair_limits(tolerance)).iterations;
  std::vector<double> beta(points.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k] != kFiller) beta[usize(places[k])] = block_.beta()[k];
  }
  return beta;
}

Solution Solver::finish(RowVector<double> beta, RowVector<double> sums, const Violation& violation,
                        SumOrder order) const {
  Solution solution =
      describe(group_, problem_, std::move(beta), std::move(sums), violation, order);
  solution.iterations = iterations_;
  solution.blocks = blocks_;
  solution.block_seconds = block_.seconds();
  solution.stop_reason = stop_.reason();
  return solution;
}

}  // namespace

Solution solve(const Problem& problem, RowSource& source, StopCheck& stop,
               const SolverOptions& options, const StatusCallback& on_status) {
  TAMIS_CHECK(problem.size() > 0 && problem.size() == source.size());
  Solver solver(alone(), problem, source, stop, options, on_status);
  return problem.size() <= options.stored_size ? solver.solve_stored() : solver.solve_blocks();
}

Solution solve_together(Group& group, const Problem& problem, RowSource& source, StopCheck& stop,
                        const SolverOptions& options, const StatusCallback& on_status) {
  TAMIS_CHECK(problem.size() == source.size());
  return Solver(group, problem, source, stop, options, on_status).solve_blocks();
}

}  // namespace tamis::qp

#include "selection/halving.hpp"

#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "selection/auto_budget.hpp"

namespace tamis {
namespace {

constexpr Index kRowsOfFirstRound = 1000;
constexpr Index kRowsGrowth = 4;  // rows of a round to rows of the one before
// Times the lowest error, within which more rows may still change the order.
constexpr double kClose = 1.5;

using Active = std::vector<Candidate*>;

double judged_error(const Candidate& candidate) {
  return candidate.handicap * candidate.trials.back().error;
}

// One trial each; without those whose trial failed or took too long.
void try_all(const TrialSeries& series, Index rows, double seconds, const Stopwatch& watch,
             Active* active) {
  std::size_t left = active->size();
  std::erase_if(*active, [&](Candidate* candidate) {
    const double share = (seconds - watch.seconds()) / static_cast<double>(left--);
    const std::optional<Trial> trial =
        series.run(candidate->options, rows, std::max(AutoBudget::kLeastTrial, share));
    if (trial) candidate->trials.push_back(*trial);
    return !trial;
  });
}

void keep_better_half(Active* active) {
  std::stable_sort(active->begin(), active->end(), [](const Candidate* a, const Candidate* b) {
    return judged_error(*a) < judged_error(*b);
  });
  const std::size_t half = (active->size() + 1) / 2;
  const double close = kClose * judged_error(*active->front());
  const auto end =
      std::find_if(active->begin() + static_cast<std::ptrdiff_t>(half), active->end(),
                   [&](const Candidate* candidate) { return judged_error(*candidate) > close; });
  active->erase(end, active->end());
}

}  // namespace

void try_by_halving(const TrialSeries& series, double seconds, std::span<Candidate> pool) {
  const Stopwatch watch;
  Active active;
  for (Candidate& candidate : pool) active.push_back(&candidate);
  for (Index rows = std::min(kRowsOfFirstRound, series.most_rows); !active.empty();) {
    try_all(series, rows, seconds, watch, &active);
    if (rows == series.most_rows || active.empty()) return;
    keep_better_half(&active);
    rows = std::min(rows * kRowsGrowth, series.most_rows);
    const double share = (seconds - watch.seconds()) / static_cast<double>(active.size());
    std::erase_if(active, [&](const Candidate* candidate) {
      const Forecast next = forecast(candidate->trials, rows, candidate->growth);
      return next.seconds > AutoBudget::kNextTrialShare * share;
    });
  }
}

}  // namespace tamis

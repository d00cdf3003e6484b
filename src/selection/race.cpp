#include "selection/race.hpp"

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "selection/auto_budget.hpp"

namespace tamis {
namespace {

constexpr std::size_t kFinalists = 8;  // tries that are judged again
constexpr Index kMostDrawings = 5;     // of held-out rows, the first included
constexpr double kBehind = 1;          // standard errors above the lowest mean, to drop out

std::vector<Try> finalists_of(std::vector<Try> tries) {
  std::stable_sort(tries.begin(), tries.end(),
                   [](const Try& a, const Try& b) { return a.trial.error < b.trial.error; });
  if (tries.size() > kFinalists) tries.resize(kFinalists);
  return tries;
}

// The tries with their mean errors over one drawing more. Nothing when the time is not enough for
// all of them.
std::optional<std::vector<Try>> judge_once_more(const DrawSeries& draw, std::vector<Try> tries,
                                                std::size_t drawings, double seconds) {
  const Stopwatch watch;
  double needed = 0;
  for (const Try& one : tries) needed += one.trial.seconds;
  if (needed > seconds) return std::nullopt;
  const TrialSeries series = draw(drawings);
  for (Try& one : tries) {
    const std::optional<Trial> trial =
        series.run(one.options, one.trial.rows, seconds - watch.seconds());
    if (!trial) return std::nullopt;
    one.trial.error += (trial->error - one.trial.error) / static_cast<double>(drawings + 1);
  }
  return tries;
}

}  // namespace

bool race(const DrawSeries& draw, Index held_out_rows, double seconds, const RunControl& control,
          Candidate* candidate) {
  const Stopwatch watch;
  std::vector<Try> finalists = finalists_of(candidate->tries);
  Index drawings = 1;
  while (finalists.size() > 1 && drawings < kMostDrawings && !control.cancelled()) {
    const Stopwatch round;
    const std::optional<std::vector<Try>> judged =
        judge_once_more(draw, finalists, usize(drawings), seconds - watch.seconds());
    if (!judged) break;
    ++drawings;
    finalists = close_to_best(*judged, kBehind, drawings * held_out_rows);
    if (watch.seconds() + AutoBudget::kNextRound * round.seconds() > seconds) break;
  }
  if (drawings == 1) return false;
  settle(smoothest_of_best(finalists, drawings * held_out_rows), candidate);
  return true;
}

}  // namespace tamis

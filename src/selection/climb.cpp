#include "selection/climb.hpp"

#include <cmath>
#include <optional>

#include "base/clock.hpp"

namespace tamis {
namespace {

constexpr Stride kLong{.tries = 16, .cost_step = 8, .gamma_step = 4, .tube_step = 4};
constexpr Stride kShort{.tries = 8, .cost_step = 4, .gamma_step = 2, .tube_step = 2};

class Climber {
 public:
  Climber(const TrialSeries& series, Index rows, double seconds, const RunControl& control,
          std::vector<Try>* tries)
      : series_(series), rows_(rows), seconds_(seconds), control_(control), tries_(*tries) {}

  // From these parameters on, as long as a move helps. False: not even they could be tried.
  bool run(const TrainOptions& start, const std::vector<Move>& moves) {
    std::optional<std::size_t> here = place_of(start, seconds_);
    if (!here) return false;
    std::size_t failed = 0;  // moves in a row that did not help
    for (std::size_t m = 0; failed < moves.size() && has_time(tries_[*here].trial);) {
      const TrainOptions there = moved(tries_[*here].options, moves[m]);
      const auto next = place_of(there, seconds_ - watch_.seconds());
      if (next && tries_[*next].trial.error < tries_[*here].trial.error) {
        here = next;
        failed = 0;
      } else {
        ++failed;
        m = (m + 1) % moves.size();
      }
    }
    return true;
  }

 private:
  // The next one may take twice as long.
  bool has_time(const Trial& last) const {
    return watch_.seconds() + 2 * last.seconds <= seconds_ && !control_.cancelled();
  }

  // Where among the tries these parameters are: tries them when they are new. Nothing when they
  // cannot be tried in time.
  std::optional<std::size_t> place_of(const TrainOptions& options, double seconds) {
    for (std::size_t t = 0; t < tries_.size(); ++t) {
      if (at_same_place(tries_[t].options, options)) return t;
    }
    const std::optional<Trial> trial = series_.run(options, rows_, seconds);
    if (!trial) return std::nullopt;
    tries_.push_back({options, *trial});
    return tries_.size() - 1;
  }

  const TrialSeries& series_;
  Index rows_;
  double seconds_;
  const RunControl& control_;
  std::vector<Try>& tries_;
  Stopwatch watch_;
};

}  // namespace

Freedom freedom_of(const TrainOptions& asked, const TrainOptions& candidate) {
  return {!keeps_cost(asked),
          uses_kernel(candidate) && !keeps_gamma(asked) && gamma_is_number(candidate),
          asked.task == Task::regression && !keeps_tube(asked)};
}

std::vector<Move> moves(const Freedom& freedom, const Stride& stride) {
  std::vector<Move> result;
  for (const double length : {1.0, 2.0}) {
    const double c = std::pow(stride.cost_step, length);
    const double g = std::pow(stride.gamma_step, length);
    if (freedom.gamma && freedom.cost) result.insert(result.end(), {{1 / c, g}, {c, 1 / g}});
    if (freedom.gamma) result.insert(result.end(), {{1, g}, {1, 1 / g}});
    if (freedom.cost) result.insert(result.end(), {{1 / c, 1}, {c, 1}});
    const double t = std::pow(stride.tube_step, length);
    if (freedom.tube) result.insert(result.end(), {{1, 1, 1 / t}, {1, 1, t}});
  }
  return result;
}

void climb(const TrialSeries& series, const Freedom& freedom, const Stride& stride, double seconds,
           const RunControl& control, Candidate* candidate) {
  const std::vector<Move> all = moves(freedom, stride);
  if (all.empty()) return;
  const Index rows = affordable_rows(candidate->trials, seconds / stride.tries, series.most_rows,
                                     candidate->growth);
  std::vector<Try>& tries = candidate->tries;
  std::erase_if(tries, [&](const Try& one) { return one.trial.rows != rows; });
  if (Climber(series, rows, seconds, control, &tries).run(candidate->options, all))
    settle(smoothest_of_best(tries, series.held_out_rows), candidate);
}

void climb_twice(const TrialSeries& series, const Freedom& freedom, double seconds,
                 const RunControl& control, Candidate* candidate) {
  const Stopwatch watch;
  climb(series, freedom, kLong, seconds / 2, control, candidate);
  climb(series, freedom, kShort, seconds - watch.seconds(), control, candidate);
}

}  // namespace tamis

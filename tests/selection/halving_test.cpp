// How far the trials of each candidate go.
#include "selection/halving.hpp"

#include <gtest/gtest.h>

#include "fake_series.hpp"

namespace tamis::testing {
namespace {

using Rows = std::vector<Index>;

// The error of the trial is the candidate's cost.
Candidate with_error(double error, double handicap = 1) {
  Candidate candidate{"exact", {1, 2.5}, handicap};
  candidate.options = at(error, 1);
  return candidate;
}

double error_in(const TrainOptions& options) { return *options.cost; }

std::vector<Rows> tried_rows(const TrialSeries& series, double seconds,
                             std::vector<Candidate> pool) {
  try_by_halving(series, seconds, pool);
  std::vector<Rows> result;
  for (const Candidate& candidate : pool) result.push_back(trial_rows(candidate));
  return result;
}

TEST(Halving, RowsGrowUpToAll) {
  const std::vector<Candidate> one{with_error(0.1)};
  EXPECT_EQ(tried_rows(fake_series(error_in, 20000), 1e6, one),
            std::vector<Rows>({{1000, 4000, 16000, 20000}}));
  EXPECT_EQ(tried_rows(fake_series(error_in, 700), 1e6, one), std::vector<Rows>({{700}}));
}

TEST(Halving, TheWorseHalfEndsUnlessItIsClose) {
  const std::vector<Candidate> pool{with_error(0.5), with_error(0.1), with_error(0.4),
                                    with_error(0.2)};
  EXPECT_EQ(tried_rows(fake_series(error_in, 5000), 1e6, pool),
            std::vector<Rows>({{1000}, {1000, 4000, 5000}, {1000}, {1000, 4000}}));
  const std::vector<Candidate> close{with_error(0.1), with_error(0.14), with_error(0.16)};
  EXPECT_EQ(tried_rows(fake_series(error_in, 4000), 1e6, close),
            std::vector<Rows>({{1000, 4000}, {1000, 4000}, {1000}}));
}

TEST(Halving, HandicapsCount) {
  const std::vector<Candidate> pool{with_error(0.1, 2), with_error(0.12)};
  EXPECT_EQ(tried_rows(fake_series(error_in, 4000), 1e6, pool),
            std::vector<Rows>({{1000}, {1000, 4000}}));
}

TEST(Halving, TrialsEndWhereTheTimeWillNotDo) {
  TrialSeries series = fake_series(error_in, 100'000);
  series.run = [](const TrainOptions&, Index rows, double) {
    const double thousands = static_cast<double>(rows) / 1000;
    return Trial{rows, 100 * thousands * thousands, 0.1};
  };
  // 16,000 rows would take 25,600 seconds.
  EXPECT_EQ(tried_rows(series, 10'000, {with_error(0.1)}), std::vector<Rows>({{1000, 4000}}));
  // Two have half of the time each: 4,000 rows are forecast to take 1,131.
  EXPECT_EQ(tried_rows(series, 3'000, {with_error(0.1), with_error(0.1)}),
            std::vector<Rows>({{1000}, {1000}}));
}

TEST(Halving, AFailedTrialEndsACandidate) {
  TrialSeries series = fake_series(error_in, 100'000);
  series.run = [](const TrainOptions& options, Index rows, double) {
    const Index most = *options.cost < 0.11 ? 4000 : 100;
    return rows > most ? std::nullopt : std::optional(Trial{rows, 0.001, 0.1});
  };
  EXPECT_EQ(tried_rows(series, 1e6, {with_error(0.1), with_error(0.12)}),
            std::vector<Rows>({{1000, 4000}, {}}));
}

}  // namespace
}  // namespace tamis::testing

#include "methods/sifting/local_sampling.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "methods/sifting/ball_draw.hpp"
#include "methods/sifting/sifting.hpp"
#include "support/training_sets.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

std::vector<Index> rows_between(Index begin, Index end) {
  std::vector<Index> rows;
  for (Index i = begin; i < end; ++i) rows.push_back(i);
  return rows;
}

// rho of each centre, by looking at all pairs.
std::vector<double> naive_rho(const TrainingSet& set, const std::vector<Index>& centres) {
  const auto k = static_cast<std::size_t>(std::log(static_cast<double>(centres.size())));
  std::vector<double> rho;
  for (const Index centre : centres) {
    std::vector<double> distances;
    for (const Index other : centres)
      distances.push_back(std::sqrt(squared_distance(set.features, centre, other)));
    std::sort(distances.begin(), distances.end());
    rho.push_back(distances[k]);
  }
  return rho;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct NaiveDraw {
  std::vector<Index> counts;        // rows to draw from each ball
  std::vector<double> probability;  // of each row of the set
};

NaiveDraw naive_draw(const TrainingSet& set, const std::vector<Index>& centres,
                     const std::vector<Index>& drawable, double beta,
                     const LocalSamplingOptions& options) {
  const std::vector<double> rho = naive_rho(set, centres);
  const double power =
      options.intensity == Intensity::density ? static_cast<double>(set.features.cols()) : 1;
  double sum = 0;
  for (const double r : rho) sum += std::pow(r, -power);
  const double radius = beta * median(rho);
  NaiveDraw result;
  std::vector<double> missed(usize(set.rows()), 1.0);
  for (std::size_t j = 0; j < centres.size(); ++j) {
    std::vector<Index> ball;
    for (const Index row : drawable) {
      if (squared_distance(set.features, centres[j], row) <= radius * radius) ball.push_back(row);
    }
    const double eta = std::pow(rho[j], -power) / sum;
    const auto size = static_cast<Index>(ball.size());
    const double of = options.intensity == Intensity::literal
                          ? static_cast<double>(size)
                          : options.budget * static_cast<double>(drawable.size());
    const Index count = std::min<Index>(size, std::llround(eta * of));
    result.counts.push_back(options.intensity == Intensity::all ? size : count);
    for (const Index row : ball) {
      missed[usize(row)] *=
          1 - static_cast<double>(result.counts.back()) / static_cast<double>(size);
    }
  }
  for (const double m : missed) result.probability.push_back(1 - m);
  return result;
}

TEST(BallDraw, TakesFromEachBallItsShare) {
  const TrainingSet set = checkerboard_set(1500, 7);
  const std::vector<Index> centres = rows_between(0, 60);
  const std::vector<Index> drawable = rows_between(200, 1500);
  MethodCall run;
  const std::vector<std::pair<Intensity, double>> cases = {{Intensity::literal, 0.4},
                                                           {Intensity::budget, 0.3},
                                                           {Intensity::budget, 1},
                                                           {Intensity::density, 0.3},
                                                           {Intensity::all, 0.4}};
  for (const auto& [intensity, budget] : cases) {
    SCOPED_TRACE(fmt::format("{} {}", static_cast<int>(intensity), budget));
    run.options.local_sampling.intensity = intensity;
    run.options.local_sampling.budget = budget;
    const TrainContext context = run.context();
    const BallDraw balls(set, context, centres, drawable);
    EXPECT_NEAR(balls.median_distance(), median(naive_rho(set, centres)), 1e-6);
    const NaiveDraw expected = naive_draw(set, centres, drawable, 0.8, run.options.local_sampling);
    const BallDraw::Drawn drawn = balls.draw(0.8);
    Index most = 0;
    Index largest = 0;
    for (const Index count : expected.counts) {
      most += count;
      largest = std::max(largest, count);
    }
    EXPECT_LE(static_cast<Index>(drawn.rows.size()), most);
    EXPECT_GE(static_cast<Index>(drawn.rows.size()), largest);
    double expected_rows = 0;
    for (const double p : expected.probability) expected_rows += p;
    EXPECT_NEAR(static_cast<double>(drawn.rows.size()), expected_rows, 0.1 * expected_rows + 1);
    for (std::size_t i = 0; i < drawn.rows.size(); ++i) {
      EXPECT_GE(drawn.rows[i], 200);
      EXPECT_NEAR(drawn.probability[i], expected.probability[usize(drawn.rows[i])], 1e-9);
      EXPECT_GT(drawn.probability[i], 0);
    }
  }
}

TEST(BallDraw, CopiesCountAsNearAsTheNearestOthers) {
  TrainingSet set = checkerboard_set(400, 7);
  std::vector<Index> rows = rows_between(0, 400);
  for (Index i = 0; i < 10; ++i) rows[usize(i)] = 0;
  set.features = set.features.select(rows);
  const MethodCall run;
  const TrainContext context = run.context();
  const BallDraw some(set, context, rows_between(0, 40), rows_between(40, 400));
  EXPECT_GT(some.median_distance(), 0);
  EXPECT_FALSE(some.draw(1).rows.empty());
  const BallDraw all_alike(set, context, rows_between(0, 10), rows_between(10, 400));
  EXPECT_EQ(all_alike.median_distance(), 0);
  EXPECT_TRUE(all_alike.draw(1).rows.empty());
}

TEST(LocalSampling, ReportsWhatThePaperTabulates) {
  MethodCall run;
  run.options.sift.delta = 0.1;
  run.options.local_sampling.subsamples = 4;
  const TrainingSet set = checkerboard_set(6000, 9);
  MethodResult result = train_local_sampling(set, run.context());
  EXPECT_EQ(report_detail(result.report, "subsamples"), 4);
  EXPECT_NEAR(report_detail(result.report, "subsample_rows"), 540, 2);
  const ReportTable& rounds = result.report.tables.at(0);
  ASSERT_EQ(rounds.columns.back(), "beta");
  EXPECT_EQ(report_detail(result.report, "sv_initial"), rounds.rows[0][0]);
  EXPECT_EQ(rounds.rows[0].back(), 0);
  for (std::size_t i = 1; i < rounds.rows.size(); ++i)
    EXPECT_GT(rounds.rows[i].back(), rounds.rows[i - 1].back());
  EXPECT_GT(report_detail(result.report, "beta"), 0);
  EXPECT_LT(report_detail(result.report, "rows_used"), 0.5 * 6000);
}

std::vector<double> betas_of(const MethodResult& result) {
  std::vector<double> betas;
  for (const auto& round : result.report.tables.at(0).rows) betas.push_back(round.back());
  return betas;
}

// With two classes that no machine tells apart, support vectors alone do as well as anything, and
// of several seeds some have their smallest validation error there.
TEST(LocalSampling, TheModelHasRowsFromTheBalls) {
  TrainingSet set = checkerboard_set(3000, 9);
  for (Index i = 0; i < set.rows(); ++i) set.codes[usize(i)] = static_cast<std::int32_t>(i % 2);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    MethodCall run;
    run.options.seed = seed;
    MethodResult result = train_local_sampling(set, run.context());
    EXPECT_GT(report_detail(result.report, "best_round"), 1);
    EXPECT_GT(report_detail(result.report, "beta"), 0);
    EXPECT_GT(report_detail(result.report, "rows_used"),
              report_detail(result.report, "sv_initial"));
  }
}

// As in the paper: 0.1, 0.2 .. until a step is no better than the one before.
TEST(LocalSampling, TheSearchStartsWhereItIsTold) {
  MethodCall run;
  run.options.local_sampling.beta_start = 0.1;
  run.options.sift.patience = 1;
  run.options.sift.improvement = 0;
  const TrainingSet set = checkerboard_set(6000, 9);
  const MethodResult result = train_local_sampling(set, run.context());
  const std::vector<double> betas = betas_of(result);
  ASSERT_GT(betas.size(), 2U);
  for (std::size_t i = 1; i < betas.size(); ++i)
    EXPECT_NEAR(betas[i], 0.1 * static_cast<double>(i), 1e-12);
  const auto& rows = result.report.tables.at(0).rows;
  for (std::size_t i = 2; i + 1 < rows.size(); ++i) EXPECT_LT(rows[i][2], rows[i - 1][2]);
  EXPECT_GE(rows.back()[2], rows[rows.size() - 2][2]);
}

TEST(LocalSampling, TheRoundsOfASearchGrow) {
  MethodCall run;
  run.options.sift.delta = 0.1;
  const TrainingSet set = checkerboard_set(6000, 9);
  MethodResult result = train_local_sampling(set, run.context());
  const double support = report_detail(result.report, "sv_initial");
  const auto& rows = result.report.tables.at(0).rows;
  ASSERT_GT(rows.size(), 2U);
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_GE(rows[i][0] - support, std::max(support, 1.25 * (rows[i - 1][0] - support)));
}

// 20,000 rows, but at least 0.1 and at most 0.4 of all.
TEST(LocalSampling, DrawsASizeThatDependsOnTheNumberOfRows) {
  for (const auto& [rows, delta] : {std::pair{Index{3000}, 0.4}, std::pair{Index{80'000}, 0.25},
                                    std::pair{Index{240'000}, 0.1}}) {
    MethodCall run;
    run.options.local_sampling.beta = 0.01;
    MethodResult result = train_local_sampling(checkerboard_set(rows, 9), run.context());
    EXPECT_NEAR(report_detail(result.report, "subsample_rows"), delta * static_cast<double>(rows),
                2);
  }
}

TEST(LocalSampling, DensityNeedsFeatures) {
  MethodCall run;
  run.options.local_sampling.intensity = Intensity::density;
  TrainingSet set = checkerboard_set(300, 9);
  set.kernel.type = KernelType::precomputed;
  EXPECT_THROW(train_local_sampling(set, run.context()), InvalidArgument);
}

TEST(LocalSampling, AGivenBetaNeedsNoRowsHeldOut) {
  MethodCall run;
  run.options.local_sampling.beta = 0.7;
  const TrainingSet set = checkerboard_set(3000, 9);
  MethodResult result = train_local_sampling(set, run.context());
  EXPECT_EQ(result.report.tables.at(0).rows.size(), 2U);
  EXPECT_EQ(report_detail(result.report, "beta"), 0.7);
  for (const auto& [name, value] : result.report.details) EXPECT_NE(name, "validation_rows");
}

TEST(LocalSampling, TooManySubsamplesAreAnError) {
  MethodCall run;
  run.options.local_sampling.subsamples = 5000;
  const TrainingSet set = checkerboard_set(3000, 9);
  EXPECT_THROW(train_local_sampling(set, run.context()), InvalidArgument);
}

}  // namespace
}  // namespace tamis::testing

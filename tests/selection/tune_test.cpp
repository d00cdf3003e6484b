// Cross-validation: the shared way against whole trainings, the searches, and what can go wrong.
#include "tamis/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "base/checked.hpp"
#include "data/folds.hpp"
#include "selection/search_points.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/generate.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

TuneOptions small_grid() {
  TuneOptions options;
  options.axes = {{"cost", {0.1, 1, 30, 1000}}, {"gamma", {0.02, 0.2, 2}}};
  options.folds = 4;
  options.racing = false;
  return options;
}

TuneOptions with_racing(TuneOptions options) {
  options.racing = true;
  return options;
}

// The same points scored by whole trainings: a third axis that changes nothing forbids sharing.
TuneOptions unshared(TuneOptions options) {
  options.axes.push_back({"eps", {options.base.eps}});
  return options;
}

void expect_same_scores(const Dataset& data, const TuneOptions& options, double tolerance) {
  const TuneResult shared = tune(data, options);
  const TuneResult whole = tune(data, unshared(options));
  EXPECT_TRUE(shared.shared_kernel);
  EXPECT_FALSE(whole.shared_kernel);
  ASSERT_EQ(shared.points.size(), whole.points.size());
  for (std::size_t p = 0; p < shared.points.size(); ++p) {
    EXPECT_NEAR(shared.points[p].error, whole.points[p].error, tolerance)
        << "cost " << shared.points[p].values[0] << " gamma " << shared.points[p].values[1];
  }
}

TEST(Tune, SharingChangesNoScore) {
  // An answer within eps may put a row or two on the other side.
  expect_same_scores(named(clouds(240, 3, 2, 1), {-1.0, 1.0}), small_grid(), 2.5 / 240);
  expect_same_scores(named(clouds(240, 3, 4, 2), {1.0, 2.0, 3.0, 4.0}), small_grid(), 4.5 / 240);
  TuneOptions rest = small_grid();
  rest.base.multiclass = Multiclass::one_vs_rest;
  rest.base.loss = SlackLoss::l2;
  expect_same_scores(named(clouds(240, 3, 3, 3), {1.0, 2.0, 3.0}), rest, 4.5 / 240);
}

TEST(Tune, SharingChangesNoScoreOfLargerProblems) {
  // More training rows than are solved on one stored block.
  const Dataset data = generate("checkerboard", {.rows = 3000, .seed = 5}).data;
  TuneOptions options;
  options.axes = {{"cost", {1, 10}}, {"gamma", {100}}};
  options.folds = 5;
  expect_same_scores(data, options, 3.5 / 3000);
}

TEST(Tune, SharingChangesNoScoreOfRegressions) {
  const Dataset data = generate("gaussians", {.rows = 200, .seed = 4, .regression = true}).data;
  TuneOptions options = small_grid();
  options.base.task = Task::regression;
  const TuneResult shared = tune(data, options);
  TuneOptions whole = options;
  whole.axes.push_back({"tube", {options.base.tube_or_default()}});
  const TuneResult each = tune(data, whole);
  EXPECT_TRUE(shared.shared_kernel);
  for (std::size_t p = 0; p < shared.points.size(); ++p)
    EXPECT_NEAR(shared.points[p].error, each.points[p].error, 0.02 * each.points[p].error);
}

TEST(Tune, FindsTheBoardsWidth) {
  const Dataset data = generate("checkerboard", {.rows = 600, .seed = 1}).data;
  TuneOptions options;
  options.base.eps = 0.1;  // some points of the grid are hard to solve
  const TuneResult result = tune(data, options);
  EXPECT_EQ(result.points.size(), 100U);
  const TunePoint& best = result.points[result.best];
  EXPECT_LT(best.error, 0.15);
  EXPECT_GT(best.values[1], 20);
  EXPECT_LT(best.values[1], 1000);
  EXPECT_EQ(result.options.cost, best.values[0]);
  EXPECT_EQ(result.options.gamma->value, best.values[1]);
  for (const TunePoint& point : result.points) {
    if (point.dropped) continue;
    EXPECT_GE(point.error, best.error);
  }
}

// The best is as without dropping; what was dropped says so, and no other has fewer folds.
void expect_same_best(const Dataset& data, const TuneOptions& options) {
  const TuneResult raced = tune(data, with_racing(options));
  const TuneResult full = tune(data, options);
  EXPECT_EQ(raced.points[raced.best].values, full.points[full.best].values);
  EXPECT_NEAR(raced.points[raced.best].error, full.points[full.best].error, 1e-3);
  EXPECT_TRUE(raced.finished);
  Index dropped = 0;
  for (const TunePoint& point : raced.points) {
    EXPECT_FALSE(std::isnan(point.error));
    EXPECT_EQ(point.dropped, point.folds < options.folds);
    EXPECT_EQ(std::isnan(point.deviation), point.folds == 1);
    dropped += point.dropped ? 1 : 0;
  }
  EXPECT_GT(dropped, 0);
  EXPECT_FALSE(raced.points[raced.best].dropped);
  for (const TunePoint& point : full.points) {
    EXPECT_FALSE(point.dropped);
    EXPECT_EQ(point.folds, options.folds);
  }
}

TEST(Tune, DroppingLosersKeepsTheBest) {
  TuneOptions options;
  options.base.eps = 0.1;
  options.racing = false;
  expect_same_best(generate("checkerboard", {.rows = 600, .seed = 1}).data, options);
  TuneOptions few = small_grid();
  few.axes[1].values = {1e-4, 0.02, 0.2, 30};
  expect_same_best(named(clouds(400, 3, 3, 3), {1.0, 2.0, 3.0}), few);
  expect_same_best(named(clouds(400, 3, 3, 3), {1.0, 2.0, 3.0}), unshared(few));
}

TEST(Tune, DroppingLosersKeepsTheBestOfRegressions) {
  const Dataset data = generate("gaussians", {.rows = 300, .seed = 4, .regression = true}).data;
  TuneOptions options = small_grid();
  options.axes[1].values = {1e-4, 0.02, 0.2, 30};
  options.base.task = Task::regression;
  expect_same_best(data, options);
}

TEST(Tune, DroppingLosersKeepsTheBestOfOtherMethods) {
  TuneOptions options;
  options.base.method = "knn";
  options.axes = {{"k", {3, 7, 15, 300}}};
  options.racing = false;
  expect_same_best(generate("checkerboard", {.rows = 600, .seed = 1}).data, options);
}

TEST(Tune, HalvingDropsNobodyWithinARound) {
  TuneOptions options = with_racing(small_grid());
  options.search = Search::halving;
  for (const TunePoint& point : tune(named(clouds(300, 3, 2, 1), {-1.0, 1.0}), options).points) {
    EXPECT_FALSE(point.dropped);
    EXPECT_EQ(point.folds, options.folds);
  }
}

TEST(Tune, ThreadsDoNotChangeScores) {
  const Dataset data = named(clouds(200, 3, 3, 7), {1.0, 2.0, 3.0});
  TuneOptions options = with_racing(small_grid());
  options.axes[1].values.push_back(100);
  for (const TuneOptions& request : {options, unshared(options)}) {
    std::vector<double> first;
    for (const int threads : {1, 2, 5}) {
      RunControl control;
      control.threads = threads;
      std::vector<double> found;
      for (const TunePoint& point : tune(data, request, control).points) {
        found.push_back(point.error);
        found.push_back(static_cast<double>(point.folds));
      }
      if (first.empty()) first = found;
      EXPECT_EQ(found, first) << threads << " threads";
    }
    EXPECT_NE(std::find(first.begin(), first.end(), 1.0), first.end());  // somebody was dropped
  }
}

TEST(Tune, AnyNumberOfAnyMethodCanBeTried) {
  const Dataset data = named(clouds(200, 3, 2, 8), {-1.0, 1.0});
  TuneOptions options;
  options.base.method = "falk";
  options.axes = {{"k", {20, 60}}, {"cost", {1, 10}}};
  EXPECT_EQ(tune(data, options).points.size(), 4U);
  options.base.method = "knn";
  options.axes.clear();
  const TuneResult result = tune(data, options);
  EXPECT_EQ(result.axes[0].option, "k");
  EXPECT_GT(result.options.local.k, 0);
}

TEST(Tune, RandomPointsLieBetweenTheValues) {
  TuneOptions options;
  options.search = Search::random;
  options.points = 12;
  options.base.method = "knn";
  options.axes = {{"k", {3, 40}}};
  const TuneResult result = tune(named(clouds(150, 3, 2, 9), {-1.0, 1.0}), options);
  ASSERT_EQ(result.points.size(), 12U);
  for (const TunePoint& point : result.points) {
    EXPECT_GE(point.values[0], 3);
    EXPECT_LE(point.values[0], 40);
    EXPECT_EQ(point.values[0], std::round(point.values[0]));
  }
  Random random(1);
  const std::vector<TuneAxis> wide{{"cost", {1e-3, 1e3}}};
  Index low = 0;
  for (const auto& point : random_points(wide, std::vector<std::uint8_t>{0}, 1000, random))
    low += point[0] < 1 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(low), 500, 60);  // evenly by logarithm
}

TEST(Tune, HalvingEndsOnAllRowsWithAFewPoints) {
  const Dataset data = generate("checkerboard", {.rows = 2400, .seed = 2}).data;
  TuneOptions options;
  options.search = Search::halving;
  options.axes = {{"cost", {1, 10, 100}},
                  {"gamma", {0.1, 0.3, 1, 3, 10, 20, 50, 100, 200, 400, 800, 1600}}};
  options.base.eps = 0.1;
  const TuneResult result = tune(data, options);
  std::size_t on_all = 0;
  for (const TunePoint& point : result.points) on_all += point.rows == 2400 ? 1 : 0;
  EXPECT_EQ(on_all, 4U);  // 36 on 266 rows, 12 on 800
  EXPECT_EQ(result.points[result.best].rows, 2400);
  EXPECT_LT(result.points[result.best].error, 0.12);
}

TEST(Tune, SearchesOnAPart) {
  const Dataset data = generate("checkerboard", {.rows = 2000, .seed = 2}).data;
  TuneOptions options = small_grid();
  options.rows = 300;
  const TuneResult result = tune(data, options);
  EXPECT_EQ(result.points[0].rows, 300);
}

// Wrong answers for the innermost half of every row's k nearest, each from an exact machine on the
// neighbourhood without its fold; folds are runs of rows.
double naive_internal_error(const Dataset& data, Index k, Index folds, double cost, double gamma) {
  const Index internal = k / 2;
  double wrong = 0;
  for (Index centre = 0; centre < data.rows(); ++centre) {
    std::vector<std::pair<double, Index>> near;
    for (Index i = 0; i < data.rows(); ++i) {
      double squared = 0;
      for (Index j = 0; j < data.cols(); ++j) {
        const double difference = static_cast<double>(data.features().at(centre, j)) -
                                  static_cast<double>(data.features().at(i, j));
        squared += difference * difference;
      }
      near.emplace_back(squared, i);
    }
    std::sort(near.begin(), near.end());
    std::vector<Index> innermost;
    for (Index i = 0; i < internal; ++i) innermost.push_back(near[usize(i)].second);
    std::sort(innermost.begin(), innermost.end());
    for (Index fold = 0; fold < folds; ++fold) {
      const std::set<Index> asked(innermost.begin() + fold * internal / folds,
                                  innermost.begin() + (fold + 1) * internal / folds);
      std::vector<Index> kept;
      for (Index i = 0; i < k; ++i) {
        if (asked.count(near[usize(i)].second) == 0) kept.push_back(near[usize(i)].second);
      }
      std::sort(kept.begin(), kept.end());
      const Dataset questions = data.select(std::vector<Index>(asked.begin(), asked.end()));
      const Dataset known = data.select(kept);
      TrainOptions options;
      options.cost = cost;
      options.gamma = {Gamma::Rule::value, gamma};
      bool one_class = true;
      for (Index i = 1; i < known.rows(); ++i)
        one_class = one_class && known.labels().number(i) == known.labels().number(0);
      if (one_class) {
        for (Index i = 0; i < questions.rows(); ++i)
          wrong += questions.labels().number(i) == known.labels().number(0) ? 0 : 1;
      } else {
        wrong += static_cast<double>(evaluate(train(known, options).model, questions).errors);
      }
    }
  }
  return wrong / static_cast<double>(internal * data.rows());
}

TEST(Tune, NeighbourhoodsAsDoneByHand) {
  const Dataset data = named(clouds(70, 2, 2, 5, 0.7), {-1.0, 1.0});
  TuneOptions options;
  options.base.method = "falk";
  options.axes = {{"cost", {0.5, 20}}, {"gamma", {0.3, 3}}, {"k", {16, 30}}};
  options.folds = 4;
  options.centres = 1000;  // more than rows: all of them
  const TuneResult result = tune(data, options);
  EXPECT_EQ(result.rows, 70);
  for (const TunePoint& point : result.points) {
    if (point.values[2] != 16) continue;  // the others are asked for the innermost of k = 16 too
    EXPECT_NEAR(point.error, naive_internal_error(data, 16, 4, point.values[0], point.values[1]),
                3.5 / (8 * 70))
        << point.values[0] << " " << point.values[1];
  }
}

TEST(Tune, NeighbourhoodsAreForLocalMachines) {
  const Dataset data = named(clouds(60, 3, 2, 1), {-1.0, 1.0});
  TuneOptions options = small_grid();
  options.centres = 10;
  EXPECT_THROW(tune(data, options), InvalidArgument);  // exact has none
  options.base.method = "falk";
  EXPECT_NO_THROW(tune(data, options));
  options.axes.push_back({"k-prime", {1, 2}});
  EXPECT_THROW(tune(data, options), InvalidArgument);
  options.axes.pop_back();
  options.search = Search::halving;
  EXPECT_THROW(tune(data, options), InvalidArgument);
  options.search = Search::grid;
  options.centres = 1;
  EXPECT_THROW(tune(data, options), InvalidArgument);
}

TEST(Tune, SaysWhatCannotBeTuned) {
  const Dataset data = named(clouds(60, 3, 2, 1), {-1.0, 1.0});
  const auto with_axis = [&](const char* option, std::vector<double> values) {
    TuneOptions options;
    options.axes = {{option, std::move(values)}};
    tune(data, options);
  };
  EXPECT_THROW(with_axis("costs", {1}), InvalidArgument);
  EXPECT_THROW(with_axis("method", {1}), InvalidArgument);
  EXPECT_THROW(with_axis("k", {1}), InvalidArgument);  // not of exact
  EXPECT_THROW(with_axis("degree", {1.5}), InvalidArgument);
  EXPECT_THROW(with_axis("cost", {}), InvalidArgument);
  EXPECT_THROW(with_axis("cost", {-1}), InvalidArgument);
  TuneOptions folds = small_grid();
  folds.folds = 1;
  EXPECT_THROW(tune(data, folds), InvalidArgument);
  folds.folds = 100;
  EXPECT_THROW(tune(data, folds), DataError);
}

// nu stands in the place of C: a search over C would try the same training again and again.
TEST(Tune, CostIsNotTunedWhereItDecidesNothing) {
  const Dataset data = named(clouds(60, 3, 2, 1), {-1.0, 1.0});
  TuneOptions options;
  options.base.method = "opt-soft-margin";
  options.base.opt_margin.nu = 0.8;
  options.folds = 2;
  const TuneResult result = tune(data, options);
  ASSERT_EQ(result.axes.size(), 1U);
  EXPECT_EQ(result.axes[0].option, "gamma");
  options.base.kernel = KernelType::linear;
  EXPECT_THROW(tune(data, options), InvalidArgument);
  options.axes = {{"cost", {1, 10}}};
  EXPECT_THROW(tune(data, options), InvalidArgument);
  options.axes = {{"nu", {0.7, 0.8}}};
  EXPECT_EQ(tune(data, options).points.size(), 2U);
}

TEST(Tune, PointsThatFailKeepTheirReason) {
  const Dataset data = named(clouds(120, 3, 2, 1), {-1.0, 1.0});
  TuneOptions options;
  options.base.method = "falk";
  options.base.local.k = 30;
  options.axes = {{"k-prime", {10, 60}}};
  const TuneResult result = tune(data, options);
  EXPECT_EQ(result.best, 0U);
  EXPECT_TRUE(std::isnan(result.points[1].error));
  EXPECT_NE(result.points[1].failure.find("k-prime"), std::string::npos);
}

// So that a program tells lack of memory and unfit data from options that are wrong.
TEST(Tune, WhenAllPointsFailTheErrorIsOfTheKindOfTheFailure) {
  TuneOptions options;
  options.axes = {{"eps", {1e-3, 1e-2}}};
  options.base.method = "opt-margin";
  options.base.kernel = KernelType::linear;
  EXPECT_THROW(tune(generate("checkerboard", {.rows = 200}).data, options), DataError);
  options.base = {};
  options.base.method = "falk";
  RunControl control;
  control.memory_bytes = 1;
  EXPECT_THROW(tune(generate("checkerboard", {.rows = 20000}).data, options, control),
               ResourceError);
}

TEST(Tune, CancelledBeforeAPointIsDone) {
  std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  EXPECT_THROW(tune(named(clouds(60, 3, 2, 1), {-1.0, 1.0}), small_grid(), control), Cancelled);
}

}  // namespace
}  // namespace tamis::testing

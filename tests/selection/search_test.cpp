// The pieces of a search: its request, its rounds and the order of its points.
#include <gtest/gtest.h>

#include <cmath>

#include "selection/search_clock.hpp"
#include "selection/search_parameters.hpp"
#include "selection/tune_request.hpp"
#include "selection/tune_scoring.hpp"
#include "selection/usual_axes.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

TunePoint point(double error, std::vector<double> values) {
  TunePoint result;
  result.error = error;
  result.values = std::move(values);
  return result;
}

TEST(Search, LowerErrorsThenLowerValuesAreBetter) {
  const double unknown = std::nan("");
  EXPECT_TRUE(is_better(point(0.1, {9}), point(0.2, {1})));
  EXPECT_TRUE(is_better(point(0.1, {1, 9}), point(0.1, {2, 1})));
  EXPECT_FALSE(is_better(point(0.1, {1}), point(0.1, {1})));
  EXPECT_TRUE(is_better(point(0.9, {9}), point(unknown, {1})));
  EXPECT_FALSE(is_better(point(unknown, {1}), point(0.9, {9})));
  EXPECT_FALSE(is_better(point(unknown, {1}), point(unknown, {2})));
  TunePoint dropped = point(0.1, {1});
  TunePoint finished = point(0.2, {2});
  dropped.folds = 1;
  finished.folds = 5;
  EXPECT_TRUE(is_better(finished, dropped));
  EXPECT_FALSE(is_better(dropped, finished));
}

TEST(Search, RacesOverFoldsOfAllRows) {
  TuneOptions options;
  EXPECT_TRUE(can_race(options));
  options.search = Search::random;
  EXPECT_TRUE(can_race(options));
  options.search = Search::halving;
  EXPECT_FALSE(can_race(options));
  options.search = Search::grid;
  options.centres = 10;
  EXPECT_FALSE(can_race(options));
  options.centres = 0;
  options.racing = false;
  EXPECT_FALSE(can_race(options));
}

TEST(Search, RoundsOfHalving) {
  using Rows = std::vector<Index>;
  EXPECT_EQ(round_rows(Search::grid, 100, 5000), Rows{5000});
  EXPECT_EQ(round_rows(Search::random, 100, 5000), Rows{5000});
  EXPECT_EQ(round_rows(Search::halving, 3, 5000), Rows{5000});
  EXPECT_EQ(round_rows(Search::halving, 4, 5000), (Rows{1666, 5000}));
  EXPECT_EQ(round_rows(Search::halving, 100, 5000), (Rows{555, 1666, 5000}));  // 185 are too few
  EXPECT_EQ(round_rows(Search::halving, 100, 599), Rows{599});
}

TEST(Search, AClockWithoutALimitLimitsNothing) {
  TrainOptions options;
  options.max_seconds = 7;
  EXPECT_EQ(SearchClock(0).limit(options).max_seconds, 7);
  EXPECT_FALSE(SearchClock(0).is_over());
  EXPECT_NEAR(SearchClock(1e6).limit(options).max_seconds, 1e6, 100);
  const SearchClock late(1e-12);
  while (!late.is_over()) {
  }
  EXPECT_GT(late.limit(options).max_seconds, 0);  // 0 would be no limit
}

TEST(Search, UsualAxesOfEveryMethodCanBeSearched) {
  const Dataset data = named(clouds(60, 3, 2, 1), {-1.0, 1.0});
  TuneOptions request;
  for (const std::string_view method : method_names()) {
    request.base.method = method;
    if (method == "falk-l") {
      EXPECT_THROW(search_axes(data, request, {}), InvalidArgument);
    } else {
      EXPECT_FALSE(search_axes(data, request, {}).empty()) << method;
    }
  }
}

TEST(Search, OptionsAtAPoint) {
  const std::vector<TuneAxis> axes{{"cost", {1}}, {"gamma", {1}}, {"k", {1}}};
  const std::vector<double> values{0.1, 0.3, 20};
  const TrainOptions options = options_at({}, axes, values);
  EXPECT_EQ(options.cost, 0.1);
  EXPECT_EQ(options.gamma->rule, Gamma::Rule::value);
  EXPECT_EQ(options.gamma->value, 0.3);
  EXPECT_EQ(options.local.k, 20);
  EXPECT_FALSE(is_whole(axes[0]));
  EXPECT_TRUE(is_whole(axes[2]));
}

TEST(Search, KernelsAreSharedOverCostAndGammaOfExactMachines) {
  TuneOptions request;
  const std::vector<TuneAxis> both{{"cost", {1, 2}}, {"gamma", {1, 2}}};
  const std::vector<TuneAxis> tube{{"cost", {1, 2}}, {"tube", {0.1}}};
  EXPECT_EQ(choose_scoring(request, both, 100, {}), Scoring::shared_kernel);
  EXPECT_EQ(choose_scoring(request, tube, 100, {}), Scoring::whole_trainings);
  EXPECT_EQ(choose_scoring(request, both, 100'000'000, {}), Scoring::whole_trainings);
  request.base.method = "falk";
  EXPECT_EQ(choose_scoring(request, both, 100, {}), Scoring::whole_trainings);
  EXPECT_EQ(parts_per_point(request), 5);
  request.centres = 20;
  EXPECT_EQ(choose_scoring(request, both, 100, {}), Scoring::neighborhoods);
  EXPECT_EQ(parts_per_point(request), 20);
}

}  // namespace
}  // namespace tamis::testing

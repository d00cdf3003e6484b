#include "methods/ensemble/member_draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/checked.hpp"

namespace tamis::testing {
namespace {

// Class 2 has three rows of 500.
std::vector<std::int32_t> rare_class() {
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 500; ++i) classes.push_back(i % 200 == 7 ? 2 : i % 2);
  return classes;
}

TEST(MemberDraw, DrawsRowsOnceAndEveryClass) {
  const std::vector<std::int32_t> classes = rare_class();
  const EnsembleOptions options;
  for (const Index size : {Index{3}, Index{10}, Index{500}}) {
    const MemberDrawer drawer(classes, 3, size, Kernel{}, Random(1));
    for (Index number = 0; number < 200; ++number) {
      const MemberDraw draw = drawer.draw(number, ParameterRanges(options));
      ASSERT_EQ(static_cast<Index>(draw.positions.size()), size);
      EXPECT_TRUE(std::is_sorted(draw.positions.begin(), draw.positions.end(),
                                 [](Index a, Index b) { return a <= b; }));
      std::set<std::int32_t> found;
      for (const Index position : draw.positions) found.insert(classes[usize(position)]);
      EXPECT_EQ(found.size(), 3U);
    }
  }
}

TEST(MemberDraw, FewerPlacesThanClassesAreAllowed) {
  const std::vector<std::int32_t> classes = rare_class();
  const MemberDrawer drawer(classes, 3, 2, Kernel{}, Random(1));
  EXPECT_EQ(drawer.draw(0, ParameterRanges(EnsembleOptions())).positions.size(), 2U);
}

TEST(MemberDraw, RowsAreDrawnEvenly) {
  const std::vector<std::int32_t> classes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const MemberDrawer drawer(classes, 2, 4, Kernel{}, Random(2));
  std::vector<int> count(10, 0);
  for (Index number = 0; number < 5000; ++number) {
    for (const Index p : drawer.draw(number, ParameterRanges(EnsembleOptions())).positions)
      ++count[usize(p)];
  }
  for (const int c : count) EXPECT_NEAR(c, 2000, 150);
}

TEST(MemberDraw, ParametersStayInTheirRanges) {
  const std::vector<std::int32_t> classes{0, 1, 0, 1};
  EnsembleOptions options;
  options.cost_range = {0.1, 10};
  options.gamma_range = {0.25, 4};
  const MemberDrawer drawer(classes, 2, 2, Kernel{KernelType::rbf, 3}, Random(3));
  std::set<double> gammas;
  int low_costs = 0;
  for (Index number = 0; number < 2000; ++number) {
    const MemberDraw draw = drawer.draw(number, ParameterRanges(options));
    EXPECT_GE(draw.cost_factor, 0.1);
    EXPECT_LE(draw.cost_factor, 10);
    low_costs += draw.cost_factor < 1 ? 1 : 0;
    gammas.insert(draw.kernel.gamma);
  }
  EXPECT_NEAR(low_costs, 1000, 120) << "even in the logarithm";
  EXPECT_EQ(gammas.size(), 16U);
  EXPECT_NEAR(*gammas.begin(), 0.75, 1e-12);
  EXPECT_NEAR(*gammas.rbegin(), 12, 1e-12);
  options.cost_range = options.gamma_range = {1, 1};
  const MemberDraw fixed = drawer.draw(5, ParameterRanges(options));
  EXPECT_EQ(fixed.cost_factor, 1);
  EXPECT_EQ(fixed.kernel.gamma, 3);
}

TEST(MemberDraw, RangesMoveAndWiden) {
  EnsembleOptions options;
  options.cost_range = {0.5, 2};
  options.gamma_range = {1, 4};
  const ParameterRanges wide = ParameterRanges(options).widened(4);
  EXPECT_DOUBLE_EQ(wide.cost_low, 0.125);
  EXPECT_DOUBLE_EQ(wide.gamma_high, 16);
  const ParameterRanges moved = ParameterRanges(options).moved(10, 0.5);
  EXPECT_DOUBLE_EQ(moved.cost_low, 5);
  EXPECT_DOUBLE_EQ(moved.cost_high, 20);
  EXPECT_DOUBLE_EQ(moved.gamma_low, 0.5);
}

TEST(MemberDraw, SizesByDefault) {
  EXPECT_EQ(resolve_subset_rows({}, 50), 50);
  EXPECT_EQ(resolve_subset_rows({}, 1000), 100);
  EXPECT_EQ(resolve_subset_rows({}, 20'000), 400);
  EXPECT_EQ(resolve_subset_rows({}, 10'000'000), 2000);
  EXPECT_EQ(resolve_subset_rows(7, 1000), 7);
  EXPECT_EQ(resolve_subset_rows(7000, 1000), 1000);
  EXPECT_EQ(draw_score_rows({}, 1000, Random(1)).size(), 1000U);
  EXPECT_EQ(draw_score_rows({}, 200'000, Random(1)).size(), 20'000U);
  EXPECT_EQ(draw_score_rows(90, 1000, Random(1)).size(), 90U);
}

}  // namespace
}  // namespace tamis::testing

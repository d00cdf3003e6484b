#include "methods/sampling/weighted_urn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"

namespace tamis::testing {
namespace {

std::vector<Index> drain(WeightedUrn& urn, Random& random) {
  std::vector<Index> drawn;
  urn.refill();
  for (Index point = urn.next(random); point >= 0; point = urn.next(random)) drawn.push_back(point);
  return drawn;
}

TEST(WeightedUrn, EveryPointComesOnce) {
  WeightedUrn urn(50);
  Random random(1);
  for (Index p = 0; p < 50; ++p) {
    for (Index times = 0; times < p % 7; ++times) urn.double_weight(p);
  }
  for (int round = 0; round < 3; ++round) {
    std::vector<Index> drawn = drain(urn, random);
    std::sort(drawn.begin(), drawn.end());
    std::vector<Index> all(50);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(drawn, all);
  }
}

// Of weights 1, 1, 2, 4 the first draw takes each with probability weight / 8.
TEST(WeightedUrn, DrawsByWeight) {
  WeightedUrn urn(4);
  urn.double_weight(2);
  urn.double_weight(3);
  urn.double_weight(3);
  Random random(2);
  std::vector<double> first(4, 0.0);
  std::vector<double> second_after_3(4, 0.0);
  constexpr int kTrials = 40000;
  for (int trial = 0; trial < kTrials; ++trial) {
    urn.refill();
    const Index a = urn.next(random);
    ++first[usize(a)];
    if (a == 3) ++second_after_3[usize(urn.next(random))];
  }
  for (const auto& [point, expected] :
       std::vector<std::pair<Index, double>>{{0, 0.125}, {1, 0.125}, {2, 0.25}, {3, 0.5}})
    EXPECT_NEAR(first[usize(point)] / kTrials, expected, 0.01);
  EXPECT_NEAR(second_after_3[2] / first[3], 0.5, 0.015);  // what is left weighs 1, 1, 2
  EXPECT_EQ(second_after_3[3], 0);
}

TEST(WeightedUrn, ThousandsOfDoublingsNeitherOverflowNorHide) {
  WeightedUrn urn(100);
  for (int times = 0; times < 5000; ++times) urn.double_weight(17);
  for (int times = 0; times < 4998; ++times) urn.double_weight(42);
  Random random(3);
  int first_is_42 = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    urn.refill();
    const Index first = urn.next(random);
    const Index second = urn.next(random);
    EXPECT_EQ(std::min(first, second), 17);
    EXPECT_EQ(std::max(first, second), 42);
    first_is_42 += first == 42 ? 1 : 0;
    EXPECT_GE(urn.next(random), 0);  // the light ones are still there
  }
  EXPECT_NEAR(first_is_42 / 2000.0, 0.2, 0.03);
  EXPECT_DOUBLE_EQ(urn.share(std::vector<Index>{17, 42}), 1);
  EXPECT_DOUBLE_EQ(urn.share(std::vector<Index>{42}), 0.2);
}

TEST(WeightedUrn, ShareIsAPartOfTheWeight) {
  WeightedUrn urn(10);
  EXPECT_DOUBLE_EQ(urn.share(std::vector<Index>{1, 2, 3}), 0.3);
  urn.double_weight(1);
  EXPECT_DOUBLE_EQ(urn.share(std::vector<Index>{1}), 2.0 / 11);
  EXPECT_EQ(urn.share({}), 0);
}

TEST(WeightedUrn, TheSameSeedDrawsTheSame) {
  WeightedUrn a(30);
  WeightedUrn b(30);
  Random random_a(4);
  Random random_b(4);
  for (int round = 0; round < 5; ++round) {
    const std::vector<Index> drawn = drain(a, random_a);
    EXPECT_EQ(drawn, drain(b, random_b));
    a.double_weight(drawn[0]);
    b.double_weight(drawn[0]);
  }
}

}  // namespace
}  // namespace tamis::testing

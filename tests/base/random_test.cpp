#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tamis/error.hpp"

namespace tamis {
namespace {

// Known answers of Philox4x32-10 from its authors' test vectors (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SplitDoesNotDependOnWhatWasDrawn) {
  Random a(7);
  Random b(7);
  b.next_u64();
  EXPECT_EQ(a.split(3).next_u64(), b.split(3).next_u64());
  EXPECT_NE(a.split(3).next_u64(), a.split(4).next_u64());
}

TEST(Random, NormalHasTheRightMoments) {
  Random random(1);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(fourth / kCount, 3, 0.1);
}

TEST(Random, BelowIsUniform) {
  Random random(2);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<std::size_t>(random.below(7))];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Sample, IsSortedDistinctAndInRange) {
  for (const std::int64_t count : {0, 1, 10, 99, 100}) {
    Random random(3);
    const auto sample = sample_without_replacement(100, count, random);
    ASSERT_EQ(static_cast<std::int64_t>(sample.size()), count);
    EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
    EXPECT_EQ(std::set<std::int64_t>(sample.begin(), sample.end()).size(), sample.size());
    for (const auto i : sample) EXPECT_TRUE(i >= 0 && i < 100);
  }
  Random random(3);
  EXPECT_THROW(sample_without_replacement(5, 6, random), InvalidArgument);
}

TEST(Sample, EveryItemIsEquallyLikely) {
  for (const std::int64_t count : {3, 20}) {  // one for each of the two methods
    std::array<int, 40> hits{};
    Random random(4);
    for (int trial = 0; trial < 20000; ++trial) {
      for (const auto i : sample_without_replacement(40, count, random))
        ++hits[static_cast<std::size_t>(i)];
    }
    const double expected = 20000.0 * static_cast<double>(count) / 40;
    for (const int h : hits) EXPECT_NEAR(h, expected, 6 * std::sqrt(expected));
  }
}

// Of weights 1 and 3, one drawn: 1 in 4. Two drawn of 1, 1 and 2: the heavy one is left out when
// the others come first, 1/4 * 1/3 * 2 = 1/6.
TEST(Sample, WeightsAreProbabilities) {
  Random random(5);
  const std::vector<double> two{1, 3};
  const std::vector<double> three{1, 1, 2};
  int light = 0;
  int without_heavy = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    light += weighted_sample_without_replacement(two, 1, random)[0] == 0 ? 1 : 0;
    const auto pair = weighted_sample_without_replacement(three, 2, random);
    ASSERT_LT(pair[0], pair[1]);
    without_heavy += pair[1] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(light, 5000, 400);
  EXPECT_NEAR(without_heavy, 20000.0 / 6, 350);
  EXPECT_EQ(weighted_sample_without_replacement(three, 3, random).size(), 3U);
  EXPECT_THROW(weighted_sample_without_replacement(three, 4, random), InvalidArgument);
}

}  // namespace
}  // namespace tamis

#include "linear/block_sums.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "base/thread_group.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

using linear::BlockSums;

// Numbers whose sum depends on the order of the additions.
std::vector<double> wild_numbers(Index count) {
  Random random(1);
  std::vector<double> values;
  for (Index i = 0; i < count; ++i)
    values.push_back(random.normal() * std::ldexp(1.0, static_cast<int>(random.below(40))));
  return values;
}

TEST(BlockSums, NumberOfBlocks) {
  EXPECT_EQ(linear::num_blocks(100'000, 100), 1);
  EXPECT_EQ(linear::num_blocks(131'072, 100), 2);
  EXPECT_EQ(linear::num_blocks(10'000'000, 100), 128);
  EXPECT_EQ(linear::num_blocks(std::int64_t{1} << 40, 100), linear::kMostBlocks);
  // Many columns: a block must be worth a sum of as many numbers.
  EXPECT_EQ(linear::num_blocks(10'000'000, 1'000'000), 4);
}

TEST(BlockSums, EveryBlockHasOneOwner) {
  for (const Index blocks : {1, 2, 8, 64, 1024}) {
    for (const int ranks : {1, 2, 3, 7, 100, 2000}) {
      Index next = 0;
      for (int r = 0; r < ranks; ++r) {
        const auto [begin, end] = linear::blocks_of_rank(blocks, r, ranks);
        EXPECT_EQ(begin, next);
        next = std::max(next, end);
        for (Index k = begin; k < end; ++k) EXPECT_EQ(linear::owner_of_block(k, blocks, ranks), r);
      }
      EXPECT_EQ(next, blocks);
    }
  }
}

// 16 blocks of unequal sizes, one of them empty.
std::vector<Index> unequal_blocks() {
  std::vector<Index> begins{0};
  for (Index k = 0; k < 16; ++k) begins.push_back(begins.back() + (k == 5 ? 0 : 3 * k + 1));
  return begins;
}

std::vector<double> sums_of(const std::vector<double>& values, const BlockSums& sums, Index first,
                            std::size_t length) {
  return sums.sum(length, [&](Index begin, Index end, double* out) {
    for (Index i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < length; ++k)
        out[k] += values[usize(first + i)] * static_cast<double>(1 + k % 7);
    }
  });
}

// Short sums go to all ranks at once, long ones in slices.
TEST(BlockSums, ThreadsAndRanksDoNotMatter) {
  const std::vector<Index> begins = unequal_blocks();
  const std::vector<double> values = wild_numbers(begins.back());
  for (const std::size_t length : {std::size_t{1}, std::size_t{5000}}) {
    const BlockSums whole(begins, alone());
    const std::vector<double> expected =
        with_threads(1, [&] { return sums_of(values, whole, 0, length); });
    EXPECT_EQ(with_threads(3, [&] { return sums_of(values, whole, 0, length); }), expected);
    double plain = 0;
    for (const double value : values) plain += value;
    EXPECT_NEAR(expected[0], plain, 1e-9 * std::ldexp(1.0, 40));
    for (const int ranks : {2, 3, 5, 16, 20}) {
      run_as_group(ranks, [&](Group& group) {
        const auto own = linear::blocks_of_rank(16, group.rank(), ranks);
        const Index first = begins[usize(own.begin)];
        std::vector<Index> mine;
        for (Index k = 0; k <= 16; ++k)
          mine.push_back(begins[usize(std::clamp(k, own.begin, std::max(own.begin, own.end)))] -
                         first);
        const BlockSums sums(mine, group);
        EXPECT_EQ(sums_of(values, sums, first, length), expected) << ranks << " ranks";
      });
    }
  }
}

}  // namespace
}  // namespace tamis::testing

#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tamis/error.hpp"

namespace tamis {
namespace {

TEST(Parallel, RangesCoverEveryIndexOnce) {
  for (const std::int64_t count : {0, 1, 7, 64, 1000, 1001}) {
    std::vector<int> seen(static_cast<std::size_t>(count), 0);
    with_threads(4, [&] {
      parallel_ranges(count, 10, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % 10, 0);
        EXPECT_LT(begin, end);
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      parallel_each(count, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
    });
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 2));
  }
  parallel_each(-1, [](std::int64_t) { FAIL(); });
}

TEST(Parallel, SortsAsOneThreadDoes) {
  for (const std::size_t count : {0, 1, 5, 4095, 4096, 4097, 50001}) {
    std::vector<std::uint64_t> values(count);
    std::uint64_t state = count;
    for (std::uint64_t& value : values) {
      state = state * 6364136223846793005 + 1442695040888963407;
      value = (state >> 33) % 1000;
    }
    std::vector<std::uint64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    with_threads(4, [&] { parallel_sort(std::span(values), std::less<>()); });
    EXPECT_EQ(values, sorted) << count;
  }
}

TEST(Parallel, ResultsComeBack) {
  EXPECT_EQ(with_threads(2, [] { return 7; }), 7);
  // Neither copied nor default-constructed on the way.
  const auto made = isolated([] { return std::make_unique<int>(3); });
  EXPECT_EQ(*made, 3);
  EXPECT_EQ(with_threads(3, [] { return loop_threads(); }), 3);
  EXPECT_THROW(with_threads(-1, [] { return 0; }), InvalidArgument);
}

TEST(Parallel, NestedAndIsolatedLoops) {
  std::vector<std::int64_t> sums(20);
  with_threads(4, [&] {
    parallel_each(20, [&](std::int64_t i) {
      isolated([&] {
        std::vector<std::int64_t> parts(50);
        parallel_each(50, [&](std::int64_t j) { parts[static_cast<std::size_t>(j)] = i * j; });
        sums[static_cast<std::size_t>(i)] =
            std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
      });
    });
  });
  for (std::size_t i = 0; i < sums.size(); ++i)
    EXPECT_EQ(sums[i], static_cast<std::int64_t>(i) * 1225);
}

TEST(Parallel, ExceptionsReachTheCaller) {
  std::vector<int> seen(1000, 0);
  const auto work = [&] {
    parallel_each(1000, [&](std::int64_t i) {
      seen[static_cast<std::size_t>(i)] = 1;
      if (i == 500) throw std::runtime_error("stop");
    });
  };
  EXPECT_THROW(with_threads(4, work), std::runtime_error);
  EXPECT_EQ(seen[500], 1);  // what the branches wrote may be read after an exception, too
}

// A real race, for whoever doubts that ThreadSanitizer still sees one:
//   TSAN_OPTIONS=suppressions=tools/tsan.supp base_test --gtest_also_run_disabled_tests
//   --gtest_filter='*ARaceIsFound'
TEST(Parallel, DISABLED_ARaceIsFound) {
  std::int64_t sum = 0;
  with_threads(2, [&] { parallel_each(100000, [&](std::int64_t i) { sum += i; }); });
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace tamis

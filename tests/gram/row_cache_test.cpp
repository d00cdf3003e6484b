// The cache against a map that never forgets: what the cache still knows must be true.
#include "gram/row_cache.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

// Column names stay with their column through every remap; a row's value at a column is a function
// of both names, so that a misplaced value shows.
float value_of(Index row, Index column_name) {
  return static_cast<float>(row * 1000 + column_name % 1000);
}

struct Twin {
  std::vector<Index> columns;            // names, by position
  std::map<Index, Index> covered_count;  // rows inserted and not known to be lost
};

void check_row(RowCache& cache, const Twin& twin, Index row) {
  Index covered = -1;
  const float* values = cache.find(row, &covered);
  if (values == nullptr) return;
  ASSERT_TRUE(twin.covered_count.contains(row)) << "a row nobody put in";
  ASSERT_GE(covered, 0);
  ASSERT_LE(covered, twin.covered_count.at(row));
  for (Index c = 0; c < covered; ++c)
    ASSERT_EQ(values[c], value_of(row, twin.columns[usize(c)])) << "row " << row << " column " << c;
}

class RowCacheTwin : public ::testing::TestWithParam<Index> {};

TEST_P(RowCacheTwin, NeverGivesAWrongValue) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Random random(seed);
    const Index num_rows = 40;
    Index next_name = 50;
    Twin twin{iota_rows(next_name), {}};
    RowCache cache(num_rows, next_name, GetParam());
    Index found = 0;
    for (int step = 0; step < 600; ++step) {
      const Index kind = random.below(20);
      if (kind < 17) {
        // A round of a few rows, as a solver asks for them.
        const Index rows = 1 + random.below(6);
        cache.begin_round(rows);
        std::map<Index, float*> places;
        for (Index r = 0; r < rows; ++r) {
          const Index row = random.below(num_rows);
          check_row(cache, twin, row);
          Index covered = 0;
          float* values = cache.find(row, &covered);
          if (values == nullptr) {
            covered = 0;
            values = cache.insert(row, random.below(2) == 0);
          } else {
            ++found;
          }
          if (values == nullptr) continue;
          places[row] = values;
          for (const auto& [other, place] : places)
            ASSERT_TRUE(other == row || place != values) << "two rows of a round in one place";
          for (Index c = covered; c < cache.columns(); ++c)
            values[c] = value_of(row, twin.columns[usize(c)]);
          cache.set_covered(row, cache.columns());
          twin.covered_count[row] = cache.columns();
        }
      } else {
        const Index share = 1 + random.below(10);
        std::vector<Index> kept;
        std::vector<Index> names;
        for (Index c = 0; c < cache.columns(); ++c) {
          if (random.below(10) >= share) continue;
          kept.push_back(c);
          names.push_back(twin.columns[usize(c)]);
        }
        for (auto& [row, count] : twin.covered_count)
          count = std::lower_bound(kept.begin(), kept.end(), count) - kept.begin();
        const Index added = random.below(70);
        for (Index c = 0; c < added; ++c) names.push_back(next_name++);
        cache.remap(kept, added);
        twin.columns = names;
        ASSERT_EQ(cache.columns(), static_cast<Index>(names.size()));
        for (Index row = 0; row < num_rows; ++row) check_row(cache, twin, row);
      }
    }
    if (GetParam() >= 8000) {
      EXPECT_GT(found, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Budgets, RowCacheTwin,
                         ::testing::Values<Index>(0, 64, 1000, 8000, 20000, 1 << 20));

TEST(RowCache, KeepsEverythingThatFits) {
  RowCache cache(10, 100, 1 << 20);
  cache.begin_round(10);
  for (Index row = 0; row < 10; ++row) {
    float* values = cache.insert(row, true);
    ASSERT_NE(values, nullptr);
    std::fill_n(values, 100, value_of(row, 0));
    cache.set_covered(row, 100);
  }
  for (Index row = 0; row < 10; ++row) {
    Index covered = 0;
    const float* values = cache.find(row, &covered);
    ASSERT_NE(values, nullptr);
    EXPECT_EQ(covered, 100);
    EXPECT_EQ(values[99], value_of(row, 0));
  }
}

TEST(RowCache, AppendedColumnsAreMissing) {
  RowCache cache(30, 3, 1 << 20);
  float* values = cache.insert(1, true);
  std::fill_n(values, 3, 5.0F);
  cache.set_covered(1, 3);
  const std::vector<Index> kept{0, 2};
  cache.remap(kept, 100);
  Index covered = 0;
  ASSERT_NE(cache.find(1, &covered), nullptr);
  EXPECT_EQ(covered, 2);
  EXPECT_EQ(cache.columns(), 102);
}

}  // namespace
}  // namespace tamis::testing

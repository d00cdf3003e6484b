// Drawing and dealing rows by class.
#include "data/folds.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/split.hpp"

namespace tamis::testing {
namespace {

// 90 rows of class 0, 9 of class 1, 1 of class 2.
Dataset uneven() {
  std::vector<double> labels(100, 0.0);
  for (std::size_t i = 90; i < 99; ++i) labels[i] = 1;
  labels[99] = 2;
  return Dataset(random_matrix(100, 2, 1), Labels::numeric(labels));
}

Index count_label(const Dataset& data, double label) {
  Index count = 0;
  for (Index i = 0; i < data.rows(); ++i) count += data.labels().number(i) == label ? 1 : 0;
  return count;
}

TEST(Folds, AreAlikeAndHaveEveryRowOnce) {
  const Dataset data = uneven();
  Random random(3);
  const auto folds = deal_rows(row_strata(data, false), 3, random);
  std::set<Index> seen;
  for (const std::vector<Index>& rows : folds) {
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(count_label(data.select(rows), 0), 30);
    EXPECT_EQ(count_label(data.select(rows), 1), 3);
    seen.insert(rows.begin(), rows.end());
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Folds, DrawKeepsSharesAndRareClasses) {
  const Dataset data = uneven();
  Random random(3);
  const Dataset drawn = data.select(draw_rows(row_strata(data, false), 20, random));
  EXPECT_EQ(count_label(drawn, 0), 18);
  EXPECT_EQ(count_label(drawn, 1), 2);
  EXPECT_EQ(count_label(drawn, 2), 1);
  EXPECT_EQ(draw_rows(row_strata(data, false), 1000, random).size(), 100U);
  EXPECT_EQ(draw_rows(row_strata(data, true), 40, random).size(), 40U);
}

TEST(Folds, RunsKeepNeighboursTogether) {
  const Dataset data(random_matrix(1000, 2, 1), Labels::numeric(std::vector<double>(1000, 1.0)));
  Random random(3);
  const std::vector<Index> rows = draw_runs(row_strata(data, false), 200, random);
  ASSERT_EQ(rows.size(), 200U);
  EXPECT_EQ(std::set<Index>(rows.begin(), rows.end()).size(), 200U);
  Index breaks = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) breaks += rows[i] != rows[i - 1] + 1 ? 1 : 0;
  EXPECT_GE(breaks, 5);
  EXPECT_LT(breaks, 20);
  EXPECT_EQ(draw_runs(row_strata(uneven(), false), 20, random).size(),
            21U);  // one of the rarest too
}

TEST(Folds, RowsWithoutWeightAreInNoStratum) {
  std::vector<double> weights(100, 1.0);
  weights[99] = 0;
  weights[3] = 0;
  const Dataset data(uneven().features(), uneven().labels(), weights);
  const Strata strata = row_strata(data, false);
  ASSERT_EQ(strata.size(), 2U);
  EXPECT_EQ(strata[0].size(), 89U);
}

TEST(Folds, StrataWithoutRowsLoseTheirEmptyOnes) {
  const Strata strata{{0, 3, 4, 7}, {1, 2}, {5, 6}};
  EXPECT_EQ(without(strata, std::vector<Index>{1, 2, 3, 6}), (Strata{{0, 4, 7}, {5}}));
  EXPECT_EQ(without(strata, {}), strata);
}

TEST(Split, EveryClassIsTrainedOn) {
  const Split split = split_dataset(uneven(), 0.3, Task::classification);
  EXPECT_EQ(count_label(split.train, 0), 63);
  EXPECT_EQ(count_label(split.train, 2), 1);
  EXPECT_EQ(split.train.rows() + split.test.rows(), 100);
  const Split other = split_dataset(uneven(), 0.3, Task::classification, 2);
  EXPECT_FALSE(other.test.features().at(0, 0) == split.test.features().at(0, 0) &&
               other.test.features().at(1, 0) == split.test.features().at(1, 0));
}

TEST(Split, RefusesWhatCannotBeParted) {
  EXPECT_THROW(split_dataset(uneven(), 0, Task::classification), InvalidArgument);
  EXPECT_THROW(split_dataset(uneven(), 1, Task::classification), InvalidArgument);
  EXPECT_THROW(split_dataset(Dataset(random_matrix(9, 2, 1)), 0.3, Task::classification),
               DataError);
  const Dataset one(random_matrix(1, 2, 1), Labels::numeric({1.0}));
  EXPECT_THROW(split_dataset(one, 0.3, Task::classification), DataError);
}

}  // namespace
}  // namespace tamis::testing

#include "methods/sifting/sifting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/checked.hpp"
#include "methods/sifting/cglq.hpp"
#include "methods/sifting/subsample.hpp"
#include "support/training_sets.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

Index rows_of_class(const TrainingSet& set, std::span<const Index> rows, int c) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](Index row) { return set.codes[usize(row)] == c; });
}

bool ascends(const std::vector<Index>& rows) {
  return std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end();
}

// The first class has a row in ten.
TrainingSet uneven_set(Index rows) {
  TrainingSet set = checkerboard_set(rows, 1);
  for (Index i = 0; i < rows; ++i) set.codes[usize(i)] = i % 10 == 0 ? 0 : 1;
  return set;
}

TEST(Sifting, DrawsTakeTheShareOfEachClass) {
  const TrainingSet set = uneven_set(5000);
  const std::vector<Index> drawn = draw_rows(set, all_rows(set), 0.2, 0, Random(1));
  EXPECT_EQ(rows_of_class(set, drawn, 0), 100);
  EXPECT_EQ(rows_of_class(set, drawn, 1), 900);
  EXPECT_TRUE(ascends(drawn));
  EXPECT_EQ(drawn, draw_rows(set, all_rows(set), 0.2, 0, Random(1)));
  EXPECT_NE(drawn, draw_rows(set, all_rows(set), 0.2, 0, Random(2)));
  EXPECT_EQ(draw_rows(set, all_rows(set), 1, 0, Random(1)), all_rows(set));
  // At least so many of each class, or all there are.
  const std::vector<Index> some = draw_rows(set, all_rows(set), 0.01, 50, Random(1));
  EXPECT_EQ(rows_of_class(set, some, 0), 50);
  EXPECT_EQ(rows_of_class(set, some, 1), 50);
  EXPECT_EQ(rows_of_class(set, draw_rows(set, all_rows(set), 0.01, 700, Random(1)), 0), 500);
  TrainingSet numbers = set;
  numbers.targets.assign(5000, 1.0);
  numbers.codes.clear();
  numbers.num_classes = 0;
  EXPECT_EQ(draw_rows(numbers, all_rows(numbers), 0.2, 0, Random(1)).size(), 1000U);
}

TEST(Sifting, RowsHeldOutAreNotChosenFrom) {
  const MethodCall run;
  const TrainingSet set = uneven_set(5000);
  const HoldOut split = hold_out(set, run.context());
  EXPECT_EQ(rows_of_class(set, split.held, 0), 50);
  EXPECT_EQ(rows_of_class(set, split.held, 1), 450);
  EXPECT_EQ(split.pool.size() + split.held.size(), 5000U);
  EXPECT_EQ(split.allowed(all_rows(set)), split.pool);
  EXPECT_EQ(split.allowed({split.pool[7], split.held[3], split.pool[2], split.pool[7]}),
            (std::vector<Index>{split.pool[2], split.pool[7]}));
  EXPECT_EQ(split.pool_without(split.pool).size(), 0U);
  const auto most =
      static_cast<Index>(hold_out(checkerboard_set(300'000, 1), run.context()).held.size());
  EXPECT_LE(most, 20'000);
  EXPECT_GE(most, 19'998) << "rounded down in each class";
  EXPECT_TRUE(hold_out(uneven_set(150), run.context()).held.empty()) << "15 rows tell nothing";
}

// Growing prefixes of the rows: each machine is better than the last.
class Prefixes {
 public:
  std::vector<Index> operator()(const KernelMachine&) {
    size_ += 100;
    return iota_rows(size_);
  }

 private:
  Index size_ = 100;
};

const ReportTable& rounds_of(const MethodResult& result) { return result.report.tables.at(0); }

TEST(Sifting, RoundsEndWhenTheErrorNoLongerImproves) {
  const TrainingSet set = checkerboard_set(6000, 3);
  std::vector<Index> held;
  for (Index i = 5000; i < 6000; ++i) held.push_back(i);
  MethodCall run;
  run.options.sift.max_rounds = 40;
  std::vector<std::size_t> counts;
  for (const Index patience : {1, 2, 6}) {
    run.options.sift.patience = patience;
    const MethodResult result = sift(set, run.context(), held, iota_rows(100), Prefixes());
    const auto& rows = rounds_of(result).rows;
    counts.push_back(rows.size());
    // The last `patience` rounds, and no run of that length before, failed to improve.
    double best = rows[0][2];
    Index without = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_LT(without, patience) << "round " << i;
      if (rows[i][2] < 0.99 * best) {
        best = rows[i][2];
        without = 0;
      } else {
        ++without;
      }
    }
    EXPECT_TRUE(without == patience || rows.size() == 40);
    // The round with the smallest error counts.
    MethodResult copy = result;
    const auto smallest = std::min_element(
        rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[2] < b[2]; });
    EXPECT_EQ(report_detail(copy.report, "validation_error"), (*smallest)[2]);
    EXPECT_EQ(report_detail(copy.report, "rows_used"), (*smallest)[0]);
    EXPECT_EQ(report_detail(copy.report, "best_round"),
              static_cast<double>(smallest - rows.begin() + 1));
    EXPECT_EQ(report_detail(copy.report, "sv_initial"), rows[0][1]);
    EXPECT_EQ(report_detail(copy.report, "rows_seen"), rows.back()[0]);
    EXPECT_EQ(result.machine->num_support_vectors(), static_cast<Index>((*smallest)[1]));
  }
  EXPECT_LT(counts[0], counts[2]);
  // Only a fall by half counts.
  run.options.sift.improvement = 0.5;
  EXPECT_LT(rounds_of(sift(set, run.context(), held, iota_rows(100), Prefixes())).rows.size(),
            counts[2]);
  run.options.sift.max_rounds = 2;
  EXPECT_EQ(rounds_of(sift(set, run.context(), held, iota_rows(100), Prefixes())).rows.size(), 2U);
}

TEST(Sifting, WithoutRowsHeldOutTheLastRoundCounts) {
  const MethodCall run;
  const TrainingSet set = checkerboard_set(600, 3);
  int left = 3;
  MethodResult result =
      sift(set, run.context(), {}, iota_rows(500), [&](const KernelMachine& latest) {
        EXPECT_FALSE(latest.support_rows().empty());
        return --left > 0 ? iota_rows(100 * left) : std::vector<Index>();
      });
  EXPECT_EQ(rounds_of(result).rows.size(), 3U);
  EXPECT_EQ(report_detail(result.report, "rows_used"), 100);
  // The same rows once more would give the same machine.
  result =
      sift(set, run.context(), {}, iota_rows(500), [&](const auto&) { return iota_rows(500); });
  EXPECT_EQ(rounds_of(result).rows.size(), 1U);
}

// The rows of the only round but the first are all of one class: the worst there is.
TEST(Sifting, ARoundThatOnlyStartsIsNotChosen) {
  const TrainingSet set = checkerboard_set(3000, 3);
  std::vector<Index> held;
  for (Index i = 2000; i < 3000; ++i) held.push_back(i);
  std::vector<Index> one_class;
  for (Index i = 0; i < 2000; ++i) {
    if (set.codes[usize(i)] == 0) one_class.push_back(i);
  }
  const auto next = [&](const KernelMachine&) { return one_class; };
  const MethodCall run;
  for (const FirstRound first : {FirstRound::counts, FirstRound::starts}) {
    MethodResult result = sift(set, run.context(), held, iota_rows(2000), next, first);
    const auto& rows = rounds_of(result).rows;
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_LT(rows[0][2], rows[1][2]);
    EXPECT_EQ(report_detail(result.report, "best_round"), first == FirstRound::counts ? 1 : 2);
  }
  // Where it is the only one, there is nothing else to return.
  MethodResult alone = sift(
      set, run.context(), held, iota_rows(2000), [](const auto&) { return std::vector<Index>(); },
      FirstRound::starts);
  EXPECT_EQ(report_detail(alone.report, "best_round"), 1);
}

TEST(Sifting, CancelledWhileChoosingItReturnsTheMachineItHas) {
  const MethodCall run;
  const TrainingSet set = checkerboard_set(600, 3);
  const MethodResult result =
      sift(set, run.context(), {}, iota_rows(500),
           [](const KernelMachine&) -> std::vector<Index> { throw Cancelled(); });
  EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
  EXPECT_GT(result.machine->num_support_vectors(), 0);
}

TEST(Subsample, IsAMachineOnTheDraw) {
  MethodCall run;
  run.options.sift.delta = 0.3;
  const TrainingSet set = checkerboard_set(2000, 5);
  MethodResult result = train_subsample(set, run.context());
  EXPECT_NEAR(report_detail(result.report, "rows_used"), 600, 2);
  EXPECT_EQ(report_detail(result.report, "rows_seen"), report_detail(result.report, "rows_used"));
}

// The second round: support vectors, the rows nearest to them by looking at all that are not held
// out, a new draw. With half of the rows held out, many of the nearest are.
TEST(Cglq, TheSecondRoundIsTheOneOfTheProcedure) {
  MethodCall run;
  run.options.sift.max_rounds = 2;
  run.options.sift.validation_fraction = 0.5;
  const TrainingSet set = checkerboard_set(3000, 5);
  const TrainContext context = run.context();
  const HoldOut split = hold_out(set, context);
  const std::vector<Index> first =
      draw_rows(set, split.pool, 0.05, kLeastOfAClass, sift_random(context, 1));
  const std::vector<Index> support = train_kernel_machine(set, first, context).support_rows();
  std::vector<Index> expected =
      draw_rows(set, split.pool, 0.05, kLeastOfAClass, sift_random(context, 2));
  for (const Index row : support) {
    std::vector<std::pair<double, Index>> near;
    for (const Index other : split.pool)
      near.emplace_back(squared_distance(set.features, row, other), other);
    std::sort(near.begin(), near.end());
    for (std::size_t i = 0; i < 6; ++i) expected.push_back(near[i].second);
  }
  expected = split.allowed(std::move(expected));
  const MethodResult result = train_cglq(set, context);
  const auto& rows = rounds_of(result).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0], static_cast<double>(first.size()));
  EXPECT_EQ(rows[0][1], static_cast<double>(support.size()));
  EXPECT_EQ(rows[1][0], static_cast<double>(expected.size()));
  const KernelMachine machine = train_kernel_machine(set, expected, context);
  EXPECT_NEAR(rows[1][1], static_cast<double>(machine.support_rows().size()), 3);
}

TEST(Cglq, SmallDataAreNotSifted) {
  const MethodCall run;
  const TrainingSet set = checkerboard_set(120, 5);
  MethodResult result = train_cglq(set, run.context());
  EXPECT_EQ(report_detail(result.report, "rows_used"), 120);
}

}  // namespace
}  // namespace tamis::testing

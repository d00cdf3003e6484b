#include "svm/expansion_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/memory.hpp"
#include "model/expansion_fixtures.hpp"
#include "support/resident_growth.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

TEST(ExpansionBuilder, StoresSharedRowsOnce) {
  Random random(1);
  const Matrix rows = random_rows(10, 3, random);
  const std::vector<TrainedMachine> machines{{{7, 2}, {1, -1}, 0.5}, {{2, 9, 3}, {2, -2, 0}, -1}};
  const auto machine = make_expansion({}, rows, machines, Decision::one_vs_rest);
  EXPECT_EQ(machine->num_support_vectors(), 3);  // 2, 7, 9; row 3 has coefficient 0
  EXPECT_EQ(machine->parts().coefficients, (std::vector<double>{-1, 1, 0, 2, 0, -2}));
  EXPECT_EQ(machine->support_vectors().at(1, 2), rows.at(7, 2));
}

TEST(ExpansionBuilder, GroupsPairsByClass) {
  Random random(2);
  const Matrix rows = random_rows(6, 3, random).to_sparse();
  const std::vector<std::int32_t> classes{2, 1, 0, 0, 1, 2};
  const std::vector<TrainedMachine> machines{
      {{2, 3, 1}, {1, 2, -3}, 0.1}, {{2, 0}, {4, -4}, 0.2}, {{4, 0, 5}, {6, -5, -1}, 0.3}};
  const auto machine = make_expansion({}, rows, machines, Decision::one_vs_one, classes, 3);
  EXPECT_EQ(machine->parts().class_counts, (std::vector<Index>{2, 2, 2}));
  EXPECT_EQ(machine->num_support_vectors(), 6);
  const Matrix queries = random_rows(4, 3, random);
  for (std::size_t m = 0; m < 3; ++m) {
    for (Index i = 0; i < 4; ++i) {
      double expected = machines[m].offset;
      for (std::size_t k = 0; k < machines[m].rows.size(); ++k) {
        expected +=
            machines[m].coefficients[k] * kernel_value({}, rows, machines[m].rows[k], queries, i);
      }
      EXPECT_NEAR(naive_value(machine->parts(), static_cast<Index>(m), queries, i), expected, 1e-9);
    }
  }
}

// As many support vectors as rows may be more than the budget leaves room for.
TEST(ExpansionBuilder, SupportVectorsAreInTheBudget) {
  constexpr Index kRows = 40000;
  constexpr Index kCols = 200;  // 32 MB
  Random random(4);
  const Matrix rows = random_rows(kRows, kCols, random);
  std::vector<TrainedMachine> machines(1);
  for (Index i = 0; i < kRows; ++i) {
    machines[0].rows.push_back(i);
    machines[0].coefficients.push_back(i % 2 == 0 ? 1 : -1);
  }
  const auto expected = make_expansion({}, rows, machines, Decision::single);
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (4 << 20);
  control.scratch_folder = ::testing::TempDir();
  const std::int64_t before = resident_memory_bytes();
  const auto machine = make_expansion({}, rows, machines, Decision::single, {}, 0, &control);
  EXPECT_LT(resident_growth(before), 8 << 20);
  const auto values = machine->support_vectors().dense_values();
  EXPECT_TRUE(
      std::equal(values.begin(), values.end(), expected->support_vectors().dense_values().begin()));
  control.scratch_folder = "/nowhere";
  EXPECT_THROW(make_expansion({}, rows, machines, Decision::single, {}, 0, &control),
               ResourceError);
}

TEST(ExpansionBuilder, KeepsOnlyTheNumbersOfAPrecomputedKernel) {
  Random random(3);
  const Matrix rows = random_precomputed(8, 8, random);
  const std::vector<TrainedMachine> machines{{{5, 1}, {1, -1}, 0}};
  const auto machine = make_expansion({KernelType::precomputed}, rows, machines, Decision::single);
  EXPECT_EQ(machine->support_vectors().cols(), 1);
  EXPECT_EQ(machine->support_vectors().at(1, 0), 6);
  EXPECT_EQ(machine->num_features(), 7);
}

TEST(ExpansionBuilder, RefusesWhatDoesNotFit) {
  const Matrix rows = Matrix::dense(2, 1, {0, 1});
  const auto build = [&](TrainedMachine machine, Decision decision = Decision::single,
                         std::vector<std::int32_t> classes = {}) {
    const std::vector<TrainedMachine> machines{std::move(machine)};
    return make_expansion({}, rows, machines, decision, classes, 2);
  };
  EXPECT_THROW(build({{0}, {}, 0}), InvalidArgument);
  EXPECT_THROW(build({{2}, {1}, 0}), InvalidArgument);
  EXPECT_THROW(build({{0, 0}, {1, 1}, 0}), InvalidArgument);
  EXPECT_THROW(build({{0}, {1}, 0}, Decision::one_vs_one), InvalidArgument);
  EXPECT_THROW(build({{0}, {1}, 0}, Decision::one_vs_one, {2, 0}), InvalidArgument);
  EXPECT_EQ(build({})->num_support_vectors(), 0);
}

}  // namespace
}  // namespace tamis

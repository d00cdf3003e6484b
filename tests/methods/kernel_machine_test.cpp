#include "methods/common/kernel_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

TrainingSet training_set(Index rows, int classes, std::uint64_t seed) {
  const Clouds data = clouds(rows, 3, classes, seed);
  TrainingSet set;
  set.features = data.features;
  set.codes.assign(data.classes.begin(), data.classes.end());
  set.num_classes = classes;
  set.cost.assign(usize(rows), 2.0);
  set.kernel = Kernel{KernelType::rbf, 0.5, 0, 3};
  return set;
}

std::vector<Index> every_fifth(Index rows) {
  std::vector<Index> result;
  for (Index i = 0; i < rows; i += 5) result.push_back(i);
  return result;
}

TEST(KernelMachine, SomeRowsAreADataSetOfTheirOwn) {
  for (const int classes : {2, 4}) {
    const TrainingSet set = training_set(240, classes, 3);
    const std::vector<Index> rows = every_fifth(240);
    const TrainOptions options;
    const RunControl control;
    const TrainContext context{options, control, {}};
    const KernelMachine part = train_kernel_machine(set, rows, context);
    const KernelMachine alone = train_kernel_machine(set.select(rows), context);
    ASSERT_EQ(part.machines.size(), alone.machines.size());
    EXPECT_EQ(part.report.objective, alone.report.objective);
    for (std::size_t m = 0; m < part.machines.size(); ++m) {
      EXPECT_EQ(part.machines[m].offset, alone.machines[m].offset);
      ASSERT_EQ(part.machines[m].rows.size(), alone.machines[m].rows.size());
      for (std::size_t k = 0; k < part.machines[m].rows.size(); ++k)
        EXPECT_EQ(part.machines[m].rows[k], 5 * alone.machines[m].rows[k]);
    }
    for (const Index row : part.support_rows()) EXPECT_EQ(row % 5, 0);
  }
}

// Shuffled rows give the same machine, to the last bit: stored matrix, blocks, pairs of classes.
TEST(KernelMachine, TheOrderOfTheRowsDoesNotMatter) {
  for (const auto& [rows, classes] : {std::pair(200, 2), std::pair(200, 3), std::pair(2600, 2)}) {
    const TrainingSet set = training_set(rows, classes, 7);
    std::vector<Index> shuffled(usize(rows));
    std::iota(shuffled.begin(), shuffled.end(), 0);
    Random random(8);
    random.shuffle(shuffled);
    const TrainOptions options;
    const RunControl control;
    const TrainContext context{options, control, {}};
    const KernelMachine plain = train_kernel_machine(set, context);
    const KernelMachine other = train_kernel_machine(set.select(shuffled), context);
    for (std::size_t m = 0; m < plain.machines.size(); ++m) {
      EXPECT_EQ(plain.machines[m].offset, other.machines[m].offset);
      EXPECT_EQ(plain.machines[m].coefficients, other.machines[m].coefficients);
      ASSERT_EQ(plain.machines[m].rows.size(), other.machines[m].rows.size());
      for (std::size_t k = 0; k < plain.machines[m].rows.size(); ++k)
        EXPECT_EQ(plain.machines[m].rows[k], shuffled[usize(other.machines[m].rows[k])]);
    }
  }
}

// From whatever machine it starts, the optimum is the same; from the optimum there is nothing to
// do.
TEST(KernelMachine, AStartChangesTheWayNotTheAnswer) {
  for (const int classes : {2, 3}) {
    for (const Index size : {Index{300}, Index{2600}}) {
      TrainingSet set = training_set(size, classes, 5);
      TrainOptions options;
      options.eps = 1e-5;
      const RunControl control;
      const TrainContext context{options, control, {}};
      const KernelMachine full = train_kernel_machine(set, context);
      const KernelMachine part = train_kernel_machine(set, every_fifth(size), context);
      const KernelMachine from_part = train_kernel_machine(set, context, &part);
      const KernelMachine from_full = train_kernel_machine(set, context, &full);
      const double objective = full.report.objective;
      EXPECT_NEAR(from_part.report.objective, objective, 1e-5 * std::abs(objective));
      EXPECT_NEAR(from_full.report.objective, objective, 1e-5 * std::abs(objective));
      EXPECT_LT(from_full.report.iterations, full.report.iterations / 10);
      EXPECT_EQ(from_part.report.stop_reason, StopReason::converged);
      // Rows of the start that are not among the rows of the problem are left out.
      const KernelMachine back = train_kernel_machine(set, every_fifth(size), context, &full);
      EXPECT_NEAR(back.report.objective, part.report.objective,
                  1e-5 * std::abs(part.report.objective));
      // Bounds that have become tighter are kept.
      for (double& cost : set.cost) cost = 0.5;
      const KernelMachine tight = train_kernel_machine(set, context, &full);
      for (const TrainedMachine& machine : tight.machines) {
        for (const double beta : machine.coefficients) EXPECT_LE(std::abs(beta), 0.5);
      }
    }
  }
}

TEST(KernelMachine, ANumberIsLearntFromAStartToo) {
  TrainingSet set = training_set(200, 2, 7);
  set.targets.assign(set.codes.begin(), set.codes.end());
  set.codes.clear();
  set.num_classes = 0;
  TrainOptions options;
  options.eps = 1e-5;
  const RunControl control;
  const TrainContext context{options, control, {}};
  const KernelMachine full = train_kernel_machine(set, context);
  const KernelMachine part = train_kernel_machine(set, every_fifth(200), context);
  EXPECT_NEAR(train_kernel_machine(set, context, &part).report.objective, full.report.objective,
              1e-5 * std::abs(full.report.objective));
}

TEST(KernelMachine, AClassWithoutRowsDoesNotHarm) {
  const TrainingSet set = training_set(90, 3, 9);
  std::vector<Index> rows;
  for (Index i = 0; i < 90; ++i) {
    if (set.codes[usize(i)] != 2) rows.push_back(i);
  }
  const TrainOptions options;
  const RunControl control;
  const KernelMachine machine = train_kernel_machine(set, rows, {options, control, {}});
  const auto expansion = make_expansion(set, machine);
  std::vector<std::int32_t> classes(90);
  expansion->classify(set.features, classes, control);
  for (const std::int32_t c : classes) EXPECT_NE(c, 2);
}

}  // namespace
}  // namespace tamis::testing

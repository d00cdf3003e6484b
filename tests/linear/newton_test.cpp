#include "linear/newton.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/parallel.hpp"
#include "base/thread_group.hpp"
#include "linear/block_sums.hpp"
#include "linear/coordinate_descent.hpp"
#include "support/linear_problems.hpp"

namespace tamis::testing {
namespace {

constexpr double kNoLimit = 1e300;

std::vector<Index> even_blocks(Index points, Index blocks) {
  std::vector<Index> begins;
  for (Index k = 0; k <= blocks; ++k) begins.push_back(points * k / blocks);
  return begins;
}

linear::Solution newton(const linear::Problem& problem, double eps, std::int64_t most = 0,
                        const RunControl& control = {}) {
  qp::StopCheck stop({eps, most, 0}, control);
  return linear::solve_newton(problem, stop, 0, {});
}

// In four blocks.
template <typename Check>
void for_each_machine_in_blocks(Index rows, const Check& check) {
  const std::vector<Index> blocks = even_blocks(rows, 4);
  for_each_machine(rows, [&](linear::Problem p) {
    p.blocks = blocks;
    check(p);
  });
}

// With every loss and bias: primal and dual differ by this share at most.
void expect_optimum(const LinearData& data, Index num_blocks, double share) {
  const std::vector<Index> blocks = even_blocks(std::ssize(data.target), num_blocks);
  for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
    for (const Bias& bias : kBiases) {
      linear::Problem p = data.problem();
      p.blocks = blocks;
      p.loss = loss;
      p.bias = bias;
      const linear::Solution s = newton(p, 1e-3);
      EXPECT_EQ(s.stop_reason, StopReason::converged);
      const double primal = naive_primal(p, s.weights, s.offset);
      EXPECT_NEAR(primal, -naive_dual(p, s.beta), share * (1 + primal));
    }
  }
}

TEST(Newton, ReachesTheOptimumOfEveryMachine) {
  for (const Index rows : {80, 1500}) {
    for_each_machine_in_blocks(rows, [](const linear::Problem& p) {
      const linear::Solution s = newton(p, 1e-6);
      expect_optimal(p, s, 1e-6);
      Index support = 0;
      for (const double beta : s.beta) support += beta != 0 ? 1 : 0;
      EXPECT_EQ(s.support_vectors, support);
    });
  }
}

// The oracle: coordinate descent on the same problem.
TEST(Newton, AgreesWithCoordinateDescent) {
  for_each_machine_in_blocks(120, [](const linear::Problem& p) {
    linear::Problem one_block = p;
    one_block.blocks = {};
    const RunControl control;
    qp::StopCheck stop({1e-5, 0, 0}, control);
    const linear::Solution expected = linear::descend(one_block, stop, 1, {}, kNoLimit).solution;
    const linear::Solution found = newton(p, 1e-5);
    EXPECT_NEAR(found.objective, expected.objective, 1e-5 * (1 + std::abs(expected.objective)));
    for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(found.weights[j], expected.weights[j], 1e-3);
    // Blocks change the order of the visits, not the optimum.
    qp::StopCheck again({1e-3, 0, 0}, control);
    const linear::Solution in_blocks = linear::descend(p, again, 1, {}, kNoLimit).solution;
    EXPECT_NEAR(in_blocks.objective, expected.objective, 1e-3 * (1 + std::abs(expected.objective)));
  });
}

// Columns of very different sizes, which keep coordinate descent busy.
TEST(Newton, RawColumns) {
  LinearData data = linear_classes(2000, 6, 1, 3);
  std::vector<float> values(data.features.dense_values().begin(),
                            data.features.dense_values().end());
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] *= static_cast<float>(std::pow(5.0, static_cast<double>(k % 6)));
  data.features = Matrix::dense(2000, 6, values);
  expect_optimum(data, 8, 1e-3);
}

// 600 columns are too many to factor: conjugate gradients alone.
LinearData many_columns(double cost = 100) {
  const Index rows = 1200;
  Random random(4);
  std::vector<Index> begins{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  LinearData data;
  for (Index i = 0; i < rows; ++i) {
    double sum = 0.3 * random.normal();
    for (std::int32_t j = static_cast<std::int32_t>(random.below(60)); j < 600;
         j += 1 + static_cast<std::int32_t>(random.below(60))) {
      columns.push_back(j);
      values.push_back(static_cast<float>(random.normal()));
      sum += (j % 2 == 0 ? 1 : -1) * static_cast<double>(values.back());
    }
    begins.push_back(std::ssize(columns));
    data.target.push_back(sum > 0 ? 1 : -1);
    data.cost.push_back(cost);
  }
  data.features = Matrix::sparse(600, begins, columns, values);
  return data;
}

TEST(Newton, ManyColumns) { expect_optimum(many_columns(), 4, 2e-2); }

TEST(Newton, StartsFromGivenCoefficients) {
  const LinearData data = many_columns();
  const std::vector<Index> blocks = even_blocks(1200, 4);
  linear::Problem p = data.problem();
  p.blocks = blocks;
  const linear::Solution first = newton(p, 1e-3);
  p.start = first.beta;
  const linear::Solution again = newton(p, 1e-3);
  EXPECT_EQ(again.epochs, 0);
  EXPECT_EQ(again.weights, first.weights);
  const std::vector<double> wild(first.beta.size(), 1e6);  // out of bounds: cut
  p.start = wild;
  EXPECT_NEAR(newton(p, 1e-3).objective, first.objective, 1e-4 * std::abs(first.objective));
}

// The points of each rank's blocks, as one problem of all ranks.
linear::Solution together(const linear::Problem& p, int ranks, bool by_newton) {
  linear::Solution result;
  std::vector<double> beta(usize(p.size()));
  std::mutex mutex;
  run_as_group(ranks, [&](Group& group) {
    const Index count = std::ssize(p.blocks) - 1;
    const auto own = linear::blocks_of_rank(count, group.rank(), ranks);
    const Index first = p.blocks[usize(own.begin)];
    const Index last = std::max(first, p.blocks[usize(std::max(own.begin, own.end))]);
    std::vector<Index> blocks;
    for (const Index begin : p.blocks) blocks.push_back(std::clamp(begin, first, last) - first);
    std::vector<Index> rows;
    for (Index i = first; i < last; ++i) rows.push_back(p.row(i));
    linear::Problem mine = p;
    mine.rows = {};
    mine.features = p.features.select(rows);
    mine.target = p.target.subspan(usize(first), usize(last - first));
    mine.cost = p.cost.subspan(usize(first), usize(last - first));
    mine.blocks = blocks;
    mine.group = &group;
    const RunControl control;
    qp::StopCheck stop({by_newton ? 1e-3 : 0.1, 0, 0}, control);
    const linear::Solution s = with_threads(1, [&] {
      return by_newton ? linear::solve_newton(mine, stop, 0, {})
                       : linear::descend(mine, stop, 1, {}, kNoLimit).solution;
    });
    const std::lock_guard lock(mutex);
    if (!result.weights.empty()) {
      EXPECT_EQ(s.weights, result.weights);
    }
    std::copy(s.beta.begin(), s.beta.end(), beta.begin() + first);
    result = s;
  });
  result.beta.assign(beta.begin(), beta.end());
  return result;
}

TEST(Newton, ThreadsAndRanksDoNotMatter) {
  const LinearData few = linear_classes(5000, 6, 1, 6);
  const LinearData many = many_columns(1);
  const LinearData sampled = linear_classes(40'000, 3, 1, 6);  // the first steps see an eighth
  for (const LinearData* data : {&few, &many, &sampled}) {
    const std::vector<Index> blocks =
        even_blocks(data->features.rows(), data == &sampled ? 128 : 8);
    for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
      for (const bool by_newton : {true, false}) {
        if (data == &sampled && !by_newton) continue;
        linear::Problem p = data->problem();
        p.blocks = blocks;
        p.loss = loss;
        p.bias.rule = Bias::Rule::free;
        const auto solve = [&] {
          const RunControl control;
          qp::StopCheck stop({by_newton ? 1e-3 : 0.1, 0, 0}, control);
          return by_newton ? linear::solve_newton(p, stop, 0, {})
                           : linear::descend(p, stop, 1, {}, kNoLimit).solution;
        };
        const linear::Solution one = with_threads(1, solve);
        std::vector<linear::Solution> others{with_threads(4, solve)};
        others.push_back(together(p, 3, by_newton));
        if (by_newton) others.push_back(together(p, 11, true));
        for (const linear::Solution& other : others) {
          EXPECT_EQ(other.weights, one.weights);
          EXPECT_EQ(other.offset, one.offset);
          EXPECT_EQ(other.beta, one.beta);
          EXPECT_EQ(other.objective, one.objective);
          EXPECT_EQ(other.gap, one.gap);
          EXPECT_EQ(other.violation, one.violation);
          EXPECT_EQ(other.epochs, one.epochs);
        }
      }
    }
  }
}

// Many points for each column: parts of them lead to the answer of all. With 256 blocks these are
// whole blocks, with 4 they are parts of each.
TEST(Newton, SamplesLeadToTheOptimum) {
  for (const Index rows : {40'000, 300'000}) {  // an eighth; a 64th, then an eighth
    const LinearData data = linear_classes(rows, 3, 0.1, 9);
    for (const Index count : {4, 256}) {
      const std::vector<Index> blocks = even_blocks(rows, count);
      for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
        for (const Bias& bias : kBiases) {
          if (rows > 100'000 && (bias.rule != Bias::Rule::free || loss != SlackLoss::l1)) continue;
          linear::Problem p = data.problem();
          p.blocks = blocks;
          p.loss = loss;
          p.bias = bias;
          expect_optimal(p, newton(p, 1e-3), 1e-3);
        }
      }
    }
  }
}

// A run that ends while it sees a part of the points has coefficients of all of them.
TEST(Newton, StoppedOnASampleItLeavesAModel) {
  const Index rows = 40'000;
  const LinearData data = linear_classes(rows, 3, 1, 10);
  const std::vector<Index> blocks = even_blocks(rows, 64);
  linear::Problem p = data.problem();
  p.blocks = blocks;
  const linear::Solution s = newton(p, 1e-3, 4);
  EXPECT_EQ(s.stop_reason, StopReason::iteration_limit);
  const double primal = naive_primal(p, s.weights, s.offset);
  EXPECT_NEAR(s.gap, primal + naive_dual(p, s.beta), 1e-6 * primal);
  Index right = 0;
  Index best_right = 0;
  const linear::Solution whole = newton(p, 1e-3);
  for (Index i = 0; i < rows; ++i) {
    const auto agrees = [&](const linear::Solution& of) {
      double value = of.offset;
      for (Index j = 0; j < 3; ++j) value += of.weights[usize(j)] * p.features.at(p.row(i), j);
      return value * p.target[usize(i)] > 0;
    };
    right += agrees(s) ? 1 : 0;
    best_right += agrees(whole) ? 1 : 0;
  }
  EXPECT_GT(static_cast<double>(right), 0.95 * static_cast<double>(best_right));
}

TEST(Newton, StopsWhereItIsTold) {
  const LinearData data = linear_classes(3000, 5, 100, 8);
  const std::vector<Index> blocks = even_blocks(3000, 4);
  linear::Problem p = data.problem();
  p.blocks = blocks;
  const linear::Solution limited = newton(p, 1e-9, 3);
  EXPECT_EQ(limited.stop_reason, StopReason::iteration_limit);
  EXPECT_EQ(limited.epochs, 3);
  EXPECT_NEAR(limited.gap,
              naive_primal(p, limited.weights, limited.offset) + naive_dual(p, limited.beta),
              1e-6 * limited.gap);
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const linear::Solution cancelled = newton(p, 1e-9, 0, control);
  EXPECT_EQ(cancelled.stop_reason, StopReason::interrupted);
  EXPECT_EQ(cancelled.epochs, 0);
  // A tolerance beyond the numbers' precision ends too.
  EXPECT_EQ(newton(p, 1e-300).stop_reason, StopReason::precision_limit);
}

TEST(Newton, ValuesBeyondAllPrecisionEnd) {
  for (const float size : {1e10F, 1e15F, 1e18F}) {
    std::vector<float> values;
    std::vector<double> target;
    for (int i = 0; i < 64; ++i) {
      values.push_back(size * static_cast<float>(i % 5 - 2));
      target.push_back(i % 3 == 0 ? 1 : -1);
    }
    const LinearData data{Matrix::dense(64, 1, values), target, std::vector<double>(64, 1.0)};
    const std::vector<Index> blocks = even_blocks(64, 2);
    for (const Bias& bias : kBiases) {
      for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
        linear::Problem p = data.problem();
        p.blocks = blocks;
        p.bias = bias;
        p.loss = loss;
        const linear::Solution s = newton(p, 1e-3);
        EXPECT_LE(s.stop_reason, StopReason::precision_limit) << size;
        for (const double w : s.weights) EXPECT_TRUE(std::isfinite(w));
        EXPECT_TRUE(std::isfinite(s.offset));
      }
    }
  }
}

// Copies of a row count as often as they say.
TEST(Newton, PointsThatStandForSeveralRows) {
  const LinearData data = linear_classes(100, 3, 1, 7);
  const std::vector<Index> blocks = even_blocks(100, 2);
  std::vector<Index> copies(100, 3);
  linear::Problem p = data.problem();
  p.blocks = blocks;
  const Index once = newton(p, 1e-4).support_vectors;
  p.copies = copies;
  EXPECT_EQ(newton(p, 1e-4).support_vectors, 3 * once);
}

}  // namespace
}  // namespace tamis::testing

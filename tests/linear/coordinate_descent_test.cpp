#include "linear/solve.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/parallel.hpp"
#include "support/linear_problems.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

linear::Solution solve(const linear::Problem& problem, double eps = 1e-8,
                       std::int64_t max_epochs = 0, const RunControl& control = {}) {
  qp::StopCheck stop({eps, max_epochs, 0}, control);
  return linear::solve(problem, stop, 1);
}

// Points at -2 and +4: without an offset w = 1/2, from the closer one alone; alpha = w / 2.
TEST(CoordinateDescent, TwoPointsByHand) {
  const LinearData data{Matrix::dense(2, 1, {-2, 4}), {-1, 1}, {10, 10}};
  linear::Problem p = data.problem();
  const linear::Solution none = solve(p);
  EXPECT_NEAR(none.weights[0], 0.5, 1e-7);
  EXPECT_EQ(none.offset, 0);
  EXPECT_NEAR(none.beta[0], -0.25, 1e-7);
  EXPECT_EQ(none.beta[1], 0);
  EXPECT_NEAR(none.objective, -0.125, 1e-7);
  EXPECT_EQ(none.support_vectors, 1);
  // The largest margin with a free offset: zero in the middle, at 1; slope 1/3.
  p.bias.rule = Bias::Rule::free;
  const linear::Solution free = solve(p);
  EXPECT_NEAR(free.weights[0], 1.0 / 3, 1e-6);
  EXPECT_NEAR(free.offset, -1.0 / 3, 1e-6);
  EXPECT_NEAR(free.beta[1], 1.0 / 18, 1e-6);
}

// One point at x = 1 with target 5, tube 1: w minimises w^2/2 + 2 (4 - w) -> w = 2 = C.
TEST(CoordinateDescent, ATubeByHand) {
  const LinearData data{Matrix::dense(1, 1, {1}), {5}, {2}};
  linear::Problem p = data.problem();
  p.task = Task::regression;
  p.tube = 1;
  const linear::Solution absolute = solve(p);
  EXPECT_NEAR(absolute.weights[0], 2, 1e-8);
  EXPECT_EQ(absolute.bounded_support_vectors, 1);
  // Squared: w = 4 (4 - w).
  p.loss = SlackLoss::l2;
  EXPECT_NEAR(solve(p).weights[0], 16.0 / 5, 1e-7);
}

TEST(CoordinateDescent, ReachesTheOptimumOfEveryMachine) {
  for_each_machine(80, [](const linear::Problem& p) {
    const linear::Solution s = solve(p);
    expect_optimal(p, s, 1e-8);
    double sum = 0;
    for (const double beta : s.beta) sum += beta;
    if (p.bias.rule == Bias::Rule::free) {
      EXPECT_NEAR(sum, 0, 1e-6 * (1 + p.cost[0]));
    }
  });
}

// Points (1, -1) and (-1, 1) of opposite classes: w = (1, -1) / 2, or (1, 0) when it may not be
// negative.
TEST(CoordinateDescent, NonnegativeWeightsByHand) {
  const LinearData data{Matrix::dense(2, 2, {1, -1, -1, 1}), {1, -1}, {10, 10}};
  linear::Problem p = data.problem();
  EXPECT_NEAR(solve(p).weights[1], -0.5, 1e-7);
  p.nonnegative = true;
  const linear::Solution s = solve(p);
  EXPECT_NEAR(s.weights[0], 1, 1e-7);
  EXPECT_EQ(s.weights[1], 0);
  EXPECT_NEAR(s.objective, -0.5, 1e-6);
}

TEST(CoordinateDescent, NonnegativeWeightsAreOptimal) {
  for (const bool sparse : {false, true}) {
    for_each_machine(80, [&](const linear::Problem& given) {
      linear::Problem p = given;
      if (sparse) p.features = p.features.to_sparse();
      p.nonnegative = true;
      const linear::Solution s = solve(p);
      EXPECT_EQ(s.stop_reason, StopReason::converged);
      for (const double w : s.weights) EXPECT_GE(w, 0);
      // w is the positive part of what the coefficients add up to, and weak duality holds.
      std::vector<double> sum(5, 0.0);
      double dual = 0;
      double beta = 0;
      for (Index i = 0; i < p.size(); ++i) {
        for (Index j = 0; j < 5; ++j)
          sum[usize(j)] += s.beta[usize(i)] * static_cast<double>(p.features.at(i, j));
        dual += linear::dual_loss(p, i, s.beta[usize(i)]);
        beta += s.beta[usize(i)];
      }
      for (double& w : sum) w = std::max(0.0, w);
      for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(sum[j], s.weights[j], 1e-8);
      const double scale = p.bias.value * p.bias.value;
      dual += penalty(p, sum, p.bias.rule == Bias::Rule::penalized ? scale * beta : 0);
      const double primal = naive_primal(p, s.weights, s.offset);
      EXPECT_NEAR(primal, -dual, 1e-4 * (1 + std::abs(primal)));
      EXPECT_NEAR(s.objective, dual, 1e-6 * (1 + std::abs(dual)));
    });
  }
}

TEST(CoordinateDescent, AFreeOffsetIsTheKernelMachine) {
  for (const Task task : {Task::classification, Task::regression}) {
    const LinearData data =
        task == Task::classification ? linear_classes(120, 4, 2, 3) : linear_numbers(120, 4, 2, 4);
    TrainOptions options;
    options.task = task;
    options.kernel = KernelType::linear;
    options.cost = 2;
    options.eps = 1e-5;
    const TrainResult kernel = train(Dataset(data.features, Labels::numeric(data.target)), options);
    linear::Problem p = data.problem();
    p.task = task;
    p.tube = task == Task::regression ? options.tube_or_default() : 0;
    p.bias.rule = Bias::Rule::free;
    const linear::Solution s = solve(p, 1e-7);
    EXPECT_NEAR(s.objective, kernel.report.objective, 1e-4 * std::abs(s.objective));
  }
}

TEST(CoordinateDescent, SparseRowsSelectedRowsAndRowsInPlaceAreTheSame) {
  const LinearData data = thinned(linear_classes(300, 12, 1, 5));
  linear::Problem p = data.problem();
  p.bias = {Bias::Rule::penalized, 1};
  const linear::Solution dense = solve(p);
  p.features = data.features.to_sparse();
  const linear::Solution sparse = solve(p);
  for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(dense.weights[j], sparse.weights[j], 1e-6);
  p.copies_rows = false;
  EXPECT_EQ(solve(p).weights, sparse.weights);
  // Rows in another order, named by number.
  std::vector<Index> where;
  shuffle_rows(&p, &where);
  EXPECT_EQ(solve(p).weights, sparse.weights);
  p.copies_rows = true;
  EXPECT_EQ(solve(p).weights, sparse.weights);
}

TEST(CoordinateDescent, ThreadsDoNotMatter) {
  const LinearData data = linear_classes(9000, 6, 1, 6);
  linear::Problem p = data.problem();
  p.bias.rule = Bias::Rule::free;
  const linear::Solution one = with_threads(1, [&] { return solve(p, 1e-3); });
  for (const int threads : {2, 5}) {
    const linear::Solution many = with_threads(threads, [&] { return solve(p, 1e-3); });
    EXPECT_EQ(one.weights, many.weights);
    EXPECT_EQ(one.beta, many.beta);
    EXPECT_EQ(one.objective, many.objective);
    EXPECT_EQ(one.gap, many.gap);
  }
}

TEST(CoordinateDescent, StartsFromGivenCoefficients) {
  for_each_machine(60, [](linear::Problem p) {
    const linear::Solution first = solve(p);
    p.start = first.beta;
    const linear::Solution again = solve(p, 1e-6);
    // A free offset is no coefficient: it has to be found again.
    if (p.bias.rule != Bias::Rule::free) {
      EXPECT_LE(again.epochs, 2);
    }
    EXPECT_NEAR(again.objective, first.objective, 1e-6 * (1 + std::abs(first.objective)));
    // Out of bounds: cut.
    const std::vector<double> wild(first.beta.size(), 1e6);
    p.start = wild;
    EXPECT_NEAR(solve(p, 1e-6).objective, first.objective, 1e-4 * (1 + std::abs(first.objective)));
  });
}

// All coefficients of the rarer class end at their bound and rest, while the offset has a long way
// to go: they must look again, or nothing ever ends.
TEST(CoordinateDescent, AFreeOffsetEndsWithSmallCosts) {
  for (const double cost : {1e-5, 1e-3, 0.1}) {
    LinearData data = linear_classes(301, 4, cost, 11);
    for (std::size_t i = 0; i < 40; ++i) data.target[i] = 1;
    linear::Problem p = data.problem();
    p.bias.rule = Bias::Rule::free;
    const linear::Solution s = solve(p, 1e-3, 20000);
    EXPECT_EQ(s.stop_reason, StopReason::converged) << cost;
    EXPECT_NEAR(s.gap, 0, 2e-3 * naive_primal(p, s.weights, s.offset)) << cost;
  }
}

TEST(CoordinateDescent, ValuesBeyondAllPrecisionEnd) {
  for (const float size : {1e10F, 1e15F, 1e18F}) {
    const LinearData data{
        Matrix::dense(4, 1, {size, 2 * size, 3 * size, -size}), {1, -1, 1, -1}, {1, 1, 1, 1}};
    for (const Bias& bias : kBiases) {
      linear::Problem p = data.problem();
      p.bias = bias;
      const linear::Solution s = solve(p, 1e-3, 100000);
      EXPECT_LE(s.stop_reason, StopReason::precision_limit) << size;
      for (const double w : s.weights) EXPECT_TRUE(std::isfinite(w));
      EXPECT_TRUE(std::isfinite(s.offset));
    }
  }
}

// Squared slacks bound no coefficient, so that nothing says beforehand how large they become.
TEST(CoordinateDescent, OverlappingClassesBeyondAllPrecisionEnd) {
  const LinearData data = linear_classes(30, 2, 3, 7);
  for (const Index cols : {Index{2}, Index{600}}) {  // with so many, no interior-point method
    std::vector<float> values(usize(30 * cols), 0.0F);
    for (Index i = 0; i < 30; ++i) {
      for (Index j = 0; j < 2; ++j) values[usize(i * cols + j)] = 1e10F * data.features.at(i, j);
    }
    const Matrix rows = Matrix::dense(30, cols, std::move(values));
    LinearData large{cols > 2 ? rows.to_sparse() : rows, data.target, data.cost};
    for (std::size_t i = 0; i < 30; i += 4) large.target[i] *= -1;
    for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
      for (const Bias& bias : kBiases) {
        linear::Problem p = large.problem();
        p.loss = loss;
        p.bias = bias;
        EXPECT_EQ(solve(p, 1e-3, 1'000'000).stop_reason, StopReason::precision_limit) << cols;
      }
    }
  }
}

TEST(CoordinateDescent, CostsAreOfRows) {
  const LinearData data = linear_classes(60, 3, 1, 7);
  LinearData weighted = data;
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    weighted.cost[usize(i)] = static_cast<double>(1 + i % 3);
    for (Index c = 0; c <= i % 3; ++c) copies.push_back(i);
  }
  LinearData copied{data.features.select(copies), {}, std::vector<double>(copies.size(), 1.0)};
  for (const Index i : copies) copied.target.push_back(data.target[usize(i)]);
  for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
    linear::Problem a = weighted.problem();
    linear::Problem b = copied.problem();
    a.loss = b.loss = loss;
    EXPECT_NEAR(solve(a).objective, solve(b).objective, 1e-6);
  }
}

TEST(CoordinateDescent, RowsWithoutValues) {
  const LinearData data{Matrix::dense(3, 2, {0, 0, 0, 0, 1, 1}).to_sparse(), {1, -1, 1}, {1, 1, 1}};
  for (const Bias& bias : kBiases) {
    for (const Task task : {Task::classification, Task::regression}) {
      linear::Problem p = data.problem();
      p.bias = bias;
      p.task = task;
      const linear::Solution s = solve(p);
      EXPECT_EQ(s.stop_reason, StopReason::converged);
      for (const double w : s.weights) EXPECT_TRUE(std::isfinite(w));
      EXPECT_TRUE(std::isfinite(s.objective));
    }
  }
}

TEST(CoordinateDescent, StopsWhereItIsTold) {
  const LinearData data = linear_classes(2000, 5, 100, 8);
  const linear::Problem p = data.problem();
  const linear::Solution limited = solve(p, 1e-9, 3);
  EXPECT_EQ(limited.stop_reason, StopReason::iteration_limit);
  EXPECT_EQ(limited.epochs, 3);
  EXPECT_GT(limited.violation, 1e-9);
  EXPECT_NEAR(limited.gap,
              naive_primal(p, limited.weights, limited.offset) + naive_dual(p, limited.beta),
              1e-6 * limited.gap);
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const linear::Solution cancelled = solve(p, 1e-9, 0, control);
  EXPECT_EQ(cancelled.stop_reason, StopReason::interrupted);
  EXPECT_EQ(cancelled.epochs, 0);
  // A tolerance beyond the numbers' precision ends too.
  const linear::Solution beyond = solve(linear_classes(40, 2, 1, 9).problem(), 1e-300, 100000);
  EXPECT_TRUE(beyond.stop_reason == StopReason::precision_limit || beyond.violation == 0);
}

TEST(CoordinateDescent, RefusesProblemsThatDoNotFit) {
  LinearData data = linear_classes(10, 2, 1, 10);
  data.cost.pop_back();
  EXPECT_THROW(solve(data.problem()), InvalidArgument);
  data.cost.push_back(0);
  EXPECT_THROW(solve(data.problem()), InvalidArgument);
  data.cost.back() = 1;
  data.target[3] = 2;
  EXPECT_THROW(solve(data.problem()), InvalidArgument);
}

}  // namespace
}  // namespace tamis::testing

// The solver on random problems: every path to the same optimum, checked by code that shares
// nothing with it.
#include "qp/solver.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cstring>

#include "base/parallel.hpp"
#include "gram/computed_rows.hpp"
#include "support/naive_qp.hpp"
#include "support/patience.hpp"

namespace tamis::testing {
namespace {

struct Case {
  std::string name;
  qp::Problem problem;
  Gram k;
};

std::vector<double> signs(const Clouds& data) {
  std::vector<double> y;
  for (const int c : data.classes) y.push_back(c == 0 ? 1 : -1);
  return y;
}

std::vector<double> numbers(const Dataset& data) {
  std::vector<double> z;
  for (Index i = 0; i < data.rows(); ++i) z.push_back(data.labels().number(i));
  return z;
}

// One of each shape of problem, on `rows` points.
std::vector<Case> all_cases(Index rows, std::uint64_t seed) {
  const Clouds data = clouds(rows, 3, 2, seed);
  const Gram rbf = gram({.gamma = 0.5}, data.features);
  const Gram linear = gram({.type = KernelType::linear}, data.features);
  const Dataset curve = wave(rows, 2, seed);
  const Gram on_curve = gram({.gamma = 1}, curve.features());
  std::vector<double> costs;
  Random random(seed);
  for (Index i = 0; i < rows; ++i) costs.push_back(random.uniform(0.01, 5));
  std::vector<Case> cases{
      {"svc", svc_problem(signs(data), 1), rbf},
      {"svc linear", svc_problem(signs(data), 0.3), linear},
      {"svc weighted", svc_problem(signs(data), costs), rbf},
      {"svc large cost", svc_problem(signs(data), 100), rbf},
      {"l2", l2_problem(signs(data), 2), rbf},
      {"svr", svr_problem(numbers(curve), 5, 0.1), on_curve},
      {"svr no tube", svr_problem(numbers(curve), 1, 0), on_curve},
      {"hulls", hull_problem(signs(data), 8.0 / static_cast<double>(rows)), rbf}};
  qp::Problem l2_svr = svr_problem(numbers(curve), std::numeric_limits<double>::infinity(), 0.1);
  l2_svr.ridge.assign(usize(rows), 0.25);
  cases.push_back({"svr l2", l2_svr, on_curve});
  return cases;
}

qp::Solution run(const qp::Problem& problem, qp::RowSource& source,
                 const qp::SolverOptions& options, const qp::Limits& limits = {},
                 const RunControl& control = {}) {
  qp::StopCheck stop(limits, control);
  return qp::solve(problem, source, stop, options);
}

void expect_optimal(const qp::Problem& p, const Gram& k, const qp::Solution& s, double eps) {
  EXPECT_EQ(s.stop_reason, StopReason::converged);
  EXPECT_LT(infeasibility(p, s.beta), 1e-8);
  EXPECT_LT(kkt_violation(p, k, s.beta), eps * 1.1 + 1e-5);
  EXPECT_NEAR(s.objective, naive_objective(p, k, s.beta), 1e-6 * (1 + std::abs(s.objective)));
  EXPECT_GE(s.duality_gap, 0);
}

TEST(Solver, AgreesWithTheNaiveSolver) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const Case& c : all_cases(10, seed)) {
      SCOPED_TRACE(c.name);
      StoredGram source(c.k);
      const qp::Solution s = run(c.problem, source, {}, {.eps = 1e-6});
      const double best = naive_objective(c.problem, c.k, naive_solve(c.problem, c.k));
      EXPECT_NEAR(s.objective, best, 1e-5 * (1 + std::abs(best)));
      expect_optimal(c.problem, source.matrix(), s, 1e-6);
    }
  }
}

TEST(Solver, ReportsTheTrueGap) {
  for (const Case& c : all_cases(200, 4)) {
    SCOPED_TRACE(c.name);
    StoredGram source(c.k);
    const qp::Solution s = run(c.problem, source, {}, {.eps = 1e-4});
    const double gap = naive_gap(c.problem, source.matrix(), s.beta, s.bias);
    EXPECT_GE(gap, -1e-6);
    EXPECT_NEAR(s.duality_gap, gap, 1e-4 * (1 + std::abs(s.objective)));
  }
}

void compare_paths(const std::vector<Case>& cases, const std::vector<Index>& blocks) {
  const double eps = 1e-5;
  for (const Case& c : cases) {
    StoredGram source(c.k);
    const qp::Solution stored = run(c.problem, source, {}, {.eps = eps});
    expect_optimal(c.problem, source.matrix(), stored, eps);
    for (const Index block : blocks) {
      for (const double share : {0.2, 1.0}) {
        SCOPED_TRACE(c.name + " block " + std::to_string(block) + " share " +
                     std::to_string(share));
        const qp::SolverOptions options{
            .block_size = block, .stored_size = 0, .first_share = share, .seed = 3};
        const qp::Solution s = run(c.problem, source, options, {.eps = eps});
        expect_optimal(c.problem, source.matrix(), s, eps);
        EXPECT_NEAR(s.objective, stored.objective, 1e-6 * std::abs(stored.objective) + 1e-3 * eps);
      }
    }
  }
}

TEST(Solver, BlockPathsFindTheStoredOptimum) { compare_paths(all_cases(160, 5), {8, 64}); }
TEST(Solver, BlocksOfTwoFindTheStoredOptimum) { compare_paths(all_cases(40, 15), {2}); }

TEST(Solver, FromTheOptimumNothingIsLeftToDo) {
  for (Case& c : all_cases(100, 6)) {
    SCOPED_TRACE(c.name);
    StoredGram source(c.k);
    const qp::Solution first = run(c.problem, source, {}, {.eps = 1e-4});
    qp::Problem again = c.problem;
    again.start = first.beta;
    for (const Index stored_size : {2048, 0}) {
      const qp::Solution second =
          run(again, source, {.block_size = 16, .stored_size = stored_size}, {.eps = 1.1e-4});
      EXPECT_LE(second.iterations, 2);
      EXPECT_NEAR(second.objective, first.objective, 1e-6 * (1 + std::abs(first.objective)));
    }
  }
}

TEST(Solver, AnyFeasibleStartGivesTheSameObjective) {
  for (Case& c : all_cases(100, 7)) {
    if (c.name == "hulls") continue;  // it has its own start
    StoredGram source(c.k);
    const qp::Solution cold = run(c.problem, source, {}, {.eps = 1e-5});
    qp::Problem warm = c.problem;
    warm.start.assign(c.problem.target.size(), 0.0);
    Random random(8);
    for (std::size_t i = 0; i + 1 < warm.start.size(); i += 2) {
      // Each pair takes opposite steps, as far as both bounds allow.
      const bool rises = warm.upper[i] > 0 && warm.lower[i + 1] < 0;
      const double room = std::min({rises ? warm.upper[i] : -warm.lower[i],
                                    rises ? -warm.lower[i + 1] : warm.upper[i + 1], 3.0});
      const double step = (rises ? 1 : -1) * room * random.uniform();
      warm.start[i] = step;
      warm.start[i + 1] = -step;
    }
    ASSERT_LT(infeasibility(c.problem, warm.start), 1e-9);
    for (const Index stored_size : {2048, 0}) {
      SCOPED_TRACE(c.name + " stored up to " + std::to_string(stored_size));
      const qp::Solution s =
          run(warm, source, {.block_size = 12, .stored_size = stored_size}, {.eps = 1e-5});
      expect_optimal(warm, source.matrix(), s, 1e-5);
      EXPECT_NEAR(s.objective, cold.objective, 1e-6 * (1 + std::abs(cold.objective)));
    }
  }
}

// Whatever ends it, what is reported must be true of the beta returned.
void expect_usable(const qp::Problem& p, const Gram& k, const qp::Solution& s) {
  EXPECT_LT(infeasibility(p, s.beta), 1e-8);
  EXPECT_TRUE(std::isfinite(s.bias[0]));
  EXPECT_LT(std::abs(s.bias[0]), 1e3);
  EXPECT_LE(
      naive_objective(p, k, s.beta),
      naive_objective(p, k, p.start.empty() ? RowVector<double>(s.beta.size(), 0.0) : p.start) +
          1e-9);
  EXPECT_NEAR(s.objective, naive_objective(p, k, s.beta), 1e-4 * (1 + std::abs(s.objective)));
}

TEST(Solver, IterationLimitLeavesAUsableAnswer) {
  for (const Case& c : all_cases(300, 9)) {
    for (const std::int64_t limit : {1, 10, 60, 200}) {
      for (const Index stored_size : {2048, 0}) {
        SCOPED_TRACE(c.name + " limit " + std::to_string(limit) + " stored up to " +
                     std::to_string(stored_size));
        StoredGram source(c.k);
        const qp::Solution s = run(c.problem, source, {.block_size = 8, .stored_size = stored_size},
                                   {.eps = 1e-6, .max_iterations = limit});
        expect_usable(c.problem, source.matrix(), s);
        EXPECT_LE(s.iterations, limit);
        if (s.stop_reason != StopReason::converged) {
          EXPECT_EQ(s.stop_reason, StopReason::iteration_limit);
        }
      }
    }
  }
}

TEST(Solver, CancelledBeforeItStarts) {
  const Case c = all_cases(100, 10)[0];
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  for (const Index stored_size : {2048, 0}) {
    StoredGram source(c.k);
    const qp::Solution s =
        run(c.problem, source, {.block_size = 16, .stored_size = stored_size}, {}, control);
    EXPECT_EQ(s.stop_reason, StopReason::interrupted);
    expect_usable(c.problem, source.matrix(), s);
  }
}

// The source gives up in the middle of a pass, and the sums are lost.
TEST(Solver, AnInterruptedPassLeavesAUsableAnswer) {
  for (const Case& c : all_cases(300, 11)) {
    for (const int call : {0, 1, 2, 5, 9}) {
      SCOPED_TRACE(c.name + " call " + std::to_string(call));
      StoredGram source(c.k);
      source.stop_at_call = call;
      std::atomic<bool> cancel = false;
      RunControl control;
      control.cancel = &cancel;
      qp::StopCheck stop({.eps = 1e-6}, control);
      source.on_stop = [&] { cancel = true; };
      const qp::Solution s =
          qp::solve(c.problem, source, stop, {.block_size = 16, .stored_size = 0});
      if (!cancel) continue;  // it was done before
      EXPECT_EQ(s.stop_reason, StopReason::interrupted);
      EXPECT_LT(infeasibility(c.problem, s.beta), 1e-8);
      EXPECT_TRUE(std::isfinite(s.bias[0]));
      EXPECT_LT(std::abs(s.bias[0]), 1e3) << "the bias is made of sums that were lost";
      // The sums cannot be had again without work, but a wrong number must not look like a result.
      EXPECT_TRUE(std::isnan(s.objective) ||
                  std::abs(s.objective - naive_objective(c.problem, source.matrix(), s.beta)) <
                      1e-4 * (1 + std::abs(s.objective)))
          << s.objective << " instead of " << naive_objective(c.problem, source.matrix(), s.beta);
    }
  }
}

TEST(Solver, TimeLimitIsKept) {
  const Case c = all_cases(400, 12)[3];
  for (const Index stored_size : {2048, 0}) {
    StoredGram source(c.k);
    const Stopwatch watch;
    const qp::Solution s = run(c.problem, source, {.block_size = 4, .stored_size = stored_size},
                               {.eps = 1e-14, .max_seconds = 0.05});
    EXPECT_LT(watch.seconds(), kPatience);
    EXPECT_TRUE(s.stop_reason == StopReason::time_limit ||
                s.stop_reason == StopReason::precision_limit ||
                s.stop_reason == StopReason::converged);
    expect_usable(c.problem, source.matrix(), s);
  }
}

// Labels that nothing explains, a wide kernel and a large cost: pairs alone were seen not to end
// within 28 million updates.
TEST(Solver, EndsWherePairsCreep) {
  const Index rows = 200;
  Random random(21);
  std::vector<float> points;
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    for (int j = 0; j < 2; ++j) points.push_back(static_cast<float>(random.uniform(0, 1)));
    labels.push_back(random.uniform(0, 1) < 0.5 ? 1 : -1);
  }
  const Matrix features = Matrix::dense(rows, 2, points);
  const qp::Problem p = svc_problem(labels, 1e6);
  ComputedRows source({.gamma = 10}, features, iota_rows(rows), 1 << 20, [] { return false; });
  const qp::Solution s = run(p, source, {}, {.eps = 1e-3, .max_iterations = 3'000'000});
  EXPECT_EQ(s.stop_reason, StopReason::converged);
  EXPECT_LT(infeasibility(p, s.beta), 1e-6);
  EXPECT_LT(kkt_violation(p, gram({.gamma = 10}, features), s.beta), 2e-3);
}

// Overlapping classes, a linear kernel and a large cost: pairs alone take 361,434 updates.
TEST(Solver, EndsSoonWherePairsAreSlow) {
  const Index rows = 400;
  Random random(22);
  std::vector<float> points;
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    double plane = random.normal();
    for (int j = 0; j < 8; ++j) {
      points.push_back(static_cast<float>(random.normal()));
      plane += static_cast<double>(points.back());
    }
    labels.push_back(plane > 0 ? 1 : -1);
  }
  const Kernel kernel{.type = KernelType::linear};
  const Matrix features = Matrix::dense(rows, 8, points);
  const qp::Problem p = svc_problem(labels, 1000);
  ComputedRows source(kernel, features, iota_rows(rows), 1 << 20, [] { return false; });
  const qp::Solution s = run(p, source, {}, {.eps = 1e-3});
  EXPECT_EQ(s.stop_reason, StopReason::converged);
  EXPECT_LT(s.iterations, 120'000);
  EXPECT_LT(kkt_violation(p, gram(kernel, features), s.beta), 2e-3);
}

TEST(Solver, ThreadsDoNotChangeABit) {
  const Clouds data = clouds(1500, 12, 2, 13);
  const qp::Problem p = svc_problem(signs(data), 5);
  for (const Index stored_size : {2048, 0}) {
    RowVector<double> first;
    for (const int threads : {1, 2, 5}) {
      const auto beta = with_threads(threads, [&] {
        ComputedRows source({.gamma = 0.1}, data.features, iota_rows(1500), 1 << 20,
                            [] { return false; });
        return run(p, source, {.block_size = 64, .stored_size = stored_size}).beta;
      });
      if (first.empty()) first = beta;
      EXPECT_EQ(std::memcmp(first.data(), beta.data(), beta.size() * sizeof(double)), 0)
          << threads << " threads";
    }
  }
}

// The violation is above eps by its last bit, and the pair solver, which adds up in another order,
// sees it met: that is no limit of precision.
TEST(Solver, AToleranceMetButForTheLastBitIsMet) {
  const Clouds data = clouds(3, 2, 2, 28);
  StoredGram source(gram({.gamma = 10}, data.features));
  const qp::Solution s =
      run(svc_problem(signs(data), 1e-3), source, {.block_size = 2, .stored_size = 2048});
  EXPECT_EQ(s.stop_reason, StopReason::converged);
}

// Random small problems: optimality, feasibility, weak duality, and an objective no worse than
// doing nothing.
RC_GTEST_PROP(SolverProperties, RandomMachines, ()) {
  const auto rows = *rc::gen::inRange(2, 40);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000);
  const double cost = std::pow(10.0, *rc::gen::inRange(-3, 4));
  const double gamma = std::pow(10.0, *rc::gen::inRange(-3, 2));
  const Index stored_size = *rc::gen::element<Index>(0, 2048);
  const Clouds data = clouds(rows, 2, 2, seed);
  StoredGram source(gram({.gamma = gamma}, data.features));
  const qp::Problem p = svc_problem(signs(data), cost);
  const qp::Solution s =
      run(p, source, {.block_size = *rc::gen::inRange<Index>(2, 20), .stored_size = stored_size});
  RC_ASSERT(s.stop_reason == StopReason::converged);
  RC_ASSERT(infeasibility(p, s.beta) < 1e-9 * (1 + cost));
  RC_ASSERT(kkt_violation(p, source.matrix(), s.beta) < 1.1e-3 + 1e-7 * cost);
  RC_ASSERT(s.duality_gap >= 0);
  RC_ASSERT(s.objective <= 1e-9);
  RC_ASSERT(std::abs(s.objective - naive_objective(p, source.matrix(), s.beta)) <=
            1e-6 * (1 + std::abs(s.objective)));
  RC_ASSERT(naive_gap(p, source.matrix(), s.beta, s.bias) >= -1e-6 * (1 + cost));
}

RC_GTEST_PROP(SolverProperties, RandomTubes, ()) {
  const auto rows = *rc::gen::inRange(2, 30);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000);
  const double cost = std::pow(10.0, *rc::gen::inRange(-2, 3));
  const double tube = *rc::gen::element(0.0, 0.01, 0.5, 10.0);
  const Index stored_size = *rc::gen::element<Index>(0, 2048);
  const Dataset data = wave(rows, 2, seed);
  StoredGram source(gram({.gamma = 1}, data.features()));
  const qp::Problem p = svr_problem(numbers(data), cost, tube);
  const qp::Solution s = run(p, source, {.block_size = 6, .stored_size = stored_size});
  RC_ASSERT(s.stop_reason == StopReason::converged);
  RC_ASSERT(infeasibility(p, s.beta) < 1e-9 * (1 + cost));
  RC_ASSERT(kkt_violation(p, source.matrix(), s.beta) < 1.1e-3 + 1e-7 * cost);
  RC_ASSERT(s.objective <= 1e-9);
}

}  // namespace
}  // namespace tamis::testing

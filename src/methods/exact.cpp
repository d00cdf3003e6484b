#include "methods/exact.hpp"

#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "gram/computed_rows.hpp"

namespace tamis {
namespace {

// See qp/problem.hpp for how each machine is written as one problem.
qp::Problem make_problem(std::span<const double> cost, const BinaryTask& task,
                         const ExactSettings& settings) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  qp::Problem problem;
  problem.target = task.targets;
  if (settings.task == Task::regression) problem.tube = settings.tube;
  for (std::size_t k = 0; k < task.rows.size(); ++k) {
    const double c = cost[static_cast<std::size_t>(task.rows[k])];
    const double limit = settings.loss == SlackLoss::l2 ? kInfinity : c;
    const bool may_rise = settings.task == Task::regression || task.targets[k] > 0;
    const bool may_fall = settings.task == Task::regression || task.targets[k] < 0;
    problem.upper.push_back(may_rise ? limit : 0);
    problem.lower.push_back(may_fall ? -limit : 0);
    if (settings.loss == SlackLoss::l2) problem.ridge.push_back(1 / (2 * c));
  }
  return problem;
}

}  // namespace

BinaryResult train_exact(const Matrix& features, std::span<const double> cost,
                         const BinaryTask& task, const ExactSettings& settings,
                         const RunControl& control, const qp::StatusCallback& on_status) {
  const qp::Problem problem = make_problem(cost, task, settings);
  qp::StopCheck stop(settings.limits, control);
  ComputedRows source(settings.kernel, features, task.rows, settings.cache_bytes,
                      [&] { return stop.interrupted(); });
  qp::SolverOptions options;
  options.seed = settings.seed;
  const qp::Solution solution = qp::solve(problem, source, stop, options, on_status);

  BinaryResult result;
  result.machine.offset = solution.bias[0];
  for (std::size_t k = 0; k < task.rows.size(); ++k) {
    if (solution.beta[k] == 0) continue;
    result.machine.rows.push_back(task.rows[k]);
    result.machine.coefficients.push_back(solution.beta[k]);
    if (solution.beta[k] == problem.upper[k] || solution.beta[k] == problem.lower[k])
      ++result.stats.bounded_support_vectors;
  }
  result.stats.objective = solution.objective;
  result.stats.gap = solution.duality_gap;
  result.stats.violation = solution.violation;
  result.stats.iterations = solution.iterations;
  result.stats.stop_reason = solution.stop_reason;
  result.stats.kernel_evaluations = source.counts().computed;
  result.stats.cached_evaluations = source.counts().cached;
  return result;
}

Index exact_work_bytes(const Matrix& features, Index rows) {
  const qp::SolverOptions options;
  const Index packed =
      features.is_sparse() ? features.size_bytes() : checked_product(rows, features.cols() * 4);
  const Index block =
      std::max(options.block_size * options.block_size,
               std::min(rows, options.stored_size) * std::min(rows, options.stored_size)) *
      4;
  return packed + checked_product(rows, 20 * 8) + block;
}

}  // namespace tamis

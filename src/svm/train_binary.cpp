#include "svm/train_binary.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/group.hpp"
#include "base/infinity.hpp"
#include "base/mix.hpp"
#include "gram/computed_rows.hpp"
#include "gram/near_points.hpp"
#include "kernels/kernel_blocks.hpp"
#include "svm/choose_distances.hpp"
#include "tamis/checkpoint.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Numbers for each row, in bytes: all of them; what is made anew for every block, or for a
// checkpoint, and so is never in scratch files.
constexpr Index kStateRowBytes = 160;
constexpr Index kBlockRowBytes = 12;
constexpr Index kCheckpointRowBytes = 128;

Index block_bytes(Index rows) {
  const qp::SolverOptions options;
  if (rows > options.stored_size) return options.block_size * options.block_size * 4;
  return 2 * rows * rows * 4;  // a stored matrix may need the rest of each value too
}

// See qp/problem.hpp for how each machine is written as one problem.
qp::Problem make_problem(std::span<const double> cost, const BinaryTask& task,
                         const BinarySettings& settings) {
  const RowStore store = task.rows.get_allocator().store();
  qp::Problem problem;
  problem.target = task.targets;
  problem.key = task.keys;
  for (RowVector<double>* values : {&problem.upper, &problem.lower, &problem.ridge}) {
    *values = RowVector<double>(store);
    if (values != &problem.ridge || settings.loss == SlackLoss::l2)
      values->reserve(task.rows.size());
  }
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

bool has_one_class(const BinaryTask& task) {
  return std::adjacent_find(task.targets.begin(), task.targets.end(), std::not_equal_to<>()) ==
         task.targets.end();
}

// The coefficients of `machine` for the rows of the task, within their bounds and with sum 0: the
// sign that has too much is scaled down, which keeps every bound.
RowVector<double> feasible_start(const TrainedMachine& machine, const BinaryTask& task,
                                 const qp::Problem& problem) {
  std::unordered_map<Index, double> given;
  for (std::size_t k = 0; k < machine.rows.size(); ++k)
    given.emplace(machine.rows[k], machine.coefficients[k]);
  RowVector<double> start(task.rows.size(), 0.0, task.rows.get_allocator());
  double positive = 0;
  double negative = 0;
  for (std::size_t k = 0; k < start.size(); ++k) {
    const auto found = given.find(task.rows[k]);
    if (found == given.end()) continue;
    start[k] = std::clamp(found->second, problem.lower[k], problem.upper[k]);
    (start[k] > 0 ? positive : negative) += std::abs(start[k]);
  }
  const double less = std::min(positive, negative);
  // A machine that was feasible up to rounding is left alone: its coefficients at bounds stay
  // there.
  if (less > (1 - 1e-12) * std::max(positive, negative)) return start;
  for (double& beta : start) {
    if (beta != 0) beta *= less / (beta > 0 ? positive : negative);
  }
  return start;
}

// Whether the start is the machine as it was given.
bool has_coefficients_of(const TrainedMachine& machine, const BinaryTask& task,
                         std::span<const double> start) {
  std::unordered_map<Index, double> used;
  for (std::size_t k = 0; k < start.size(); ++k) {
    if (start[k] != 0) used.emplace(task.rows[k], start[k]);
  }
  if (used.size() != machine.rows.size()) return false;
  for (std::size_t k = 0; k < machine.rows.size(); ++k) {
    const auto found = used.find(machine.rows[k]);
    if (found == used.end() || found->second != machine.coefficients[k]) return false;
  }
  return true;
}

// No boundary to find: always this class.
BinaryResult constant_machine(const BinaryTask& task) {
  BinaryResult constant;
  constant.machine.offset = task.targets.empty() ? 0 : task.targets[0];
  return constant;
}

// What must be the same for a state to be of use: all that the solver's steps depend on. The keys
// hold features, targets and costs.
std::uint64_t fingerprint(const qp::Problem& problem, const BinarySettings& settings,
                          Group& group) {
  std::uint64_t sum = 0;
  for (const std::uint64_t key : problem.key) sum += mix(key);
  std::uint64_t hash = mix(sum_of_all(group, sum));
  const auto add = [&](auto value) {
    std::uint64_t bits = 0;
    static_assert(sizeof value <= sizeof bits);
    std::memcpy(&bits, &value, sizeof value);
    hash = mix(hash + bits);
  };
  add(sum_of_all(group, problem.size()));
  add(settings.kernel.type);
  add(settings.kernel.gamma);
  add(settings.kernel.coef0);
  add(settings.kernel.degree);
  add(settings.loss);
  add(settings.tube);
  add(settings.limits.eps);
  add(settings.seed);
  return hash;
}

class Keeper : public qp::StateKeeper {
 public:
  Keeper(const RunControl& control, std::string name, std::uint64_t print)
      : control_(control), name_(std::move(name)), print_(print) {}

  std::vector<qp::SolverState> load() override {
    std::vector<qp::SolverState> states;
    for (const std::string& part : control_.checkpoint->load(name_)) {
      std::uint64_t print = 0;
      if (part.size() >= sizeof print) std::memcpy(&print, part.data(), sizeof print);
      if (print != print_) {
        throw DataError(
            "the checkpoint is of other rows or options; give another folder, or remove it to "
            "begin anew");
      }
      states.push_back(qp::state_from_bytes(std::string_view(part).substr(sizeof print)));
    }
    return states;
  }
  bool is_due(bool at_end) override {
    return watch_.seconds() >= control_.checkpoint_seconds * (at_end ? 0.1 : 1.0);
  }
  void save(const qp::SolverState& state) override {
    std::string part(reinterpret_cast<const char*>(&print_), sizeof print_);
    control_.checkpoint->save(name_, part + qp::to_bytes(state));
    watch_ = {};
  }

 private:
  const RunControl& control_;
  const std::string name_;
  const std::uint64_t print_;
  Stopwatch watch_;
};

std::unique_ptr<Keeper> keeper_for(const qp::Problem& problem, const BinarySettings& settings,
                                   const RunControl& control, Group& group) {
  if (control.checkpoint == nullptr || settings.checkpoint_name.empty()) return nullptr;
  return std::make_unique<Keeper>(control, settings.checkpoint_name,
                                  fingerprint(problem, settings, group));
}

BinaryResult make_result(const qp::Problem& problem, const BinaryTask& task,
                         qp::Solution solution) {
  BinaryResult result;
  result.machine.offset = solution.bias[0];
  for (std::size_t k = 0; k < task.rows.size(); ++k) {
    if (solution.beta[k] == 0) continue;
    result.machine.rows.push_back(task.rows[k]);
    result.machine.coefficients.push_back(solution.beta[k]);
    if (solution.beta[k] == problem.upper[k] || solution.beta[k] == problem.lower[k])
      ++result.stats.bounded_support_vectors;
  }
  result.sums = std::move(solution.sums);
  for (std::size_t k = 0; k < problem.ridge.size(); ++k)
    result.sums[k] -= problem.ridge[k] * solution.beta[k];
  result.stats.objective = solution.objective;
  result.stats.gap = solution.duality_gap;
  result.stats.violation = solution.violation;
  result.stats.iterations = solution.iterations;
  result.stats.stop_reason = solution.stop_reason;
  return result;
}

BinaryResult solve_task(const qp::Problem& problem, const BinaryTask& task, qp::RowSource& source,
                        qp::StopCheck& stop, std::uint64_t seed,
                        const qp::StatusCallback& on_status, qp::StateKeeper* keeper = nullptr) {
  qp::SolverOptions options;
  options.seed = seed;
  options.keeper = keeper;
  return make_result(problem, task, qp::solve(problem, source, stop, options, on_status));
}

qp::Problem make_started(std::span<const double> cost, const BinaryTask& task,
                         const TrainedMachine* start, const BinarySettings& settings) {
  qp::Problem problem = make_problem(cost, task, settings);
  if (start != nullptr) problem.start = feasible_start(*start, task, problem);
  return problem;
}

}  // namespace

BinaryResult train_binary(const Matrix& features, std::span<const double> cost,
                          const BinaryTask& task, const TrainedMachine* start,
                          const BinarySettings& settings, const RunControl& control,
                          const qp::StatusCallback& on_status) {
  if (settings.task == Task::classification && has_one_class(task)) return constant_machine(task);
  const qp::Problem problem = make_started(cost, task, start, settings);
  qp::StopCheck stop(settings.limits, control);
  const bool leaves_far_out = settings.leaves_far_out
                                  ? *settings.leaves_far_out
                                  : has_many_far_pairs(settings.kernel, features, task.rows);
  ComputedRows source(
      alone(), settings.kernel, features, task.rows, settings.cache_bytes, leaves_far_out,
      choose_distances(settings.kernel, features, task.rows, problem, settings.limits.eps, alone()),
      [&] { return stop.interrupted(); }, &control);
  const auto keeper = keeper_for(problem, settings, control, alone());
  BinaryResult result =
      solve_task(problem, task, source, stop, settings.seed, on_status, keeper.get());
  result.stats.kernel_evaluations = source.counts().computed;
  result.stats.cached_evaluations = source.counts().cached;
  return result;
}

BinaryResult train_binary_together(const Matrix& features, std::span<const double> cost,
                                   const BinaryTask& task, const BinarySettings& settings,
                                   const RunControl& control, const qp::StatusCallback& on_status) {
  Group& group = group_of(control);
  const qp::Problem problem = make_problem(cost, task, settings);
  qp::StopCheck stop(settings.limits, control);
  ComputedRows source(
      group, settings.kernel, features, task.rows, settings.cache_bytes,
      settings.leaves_far_out.value(),
      choose_distances(settings.kernel, features, task.rows, problem, settings.limits.eps, group),
      [&] { return stop.interrupted(); });
  const auto keeper = keeper_for(problem, settings, control, group);
  qp::SolverOptions options;
  options.seed = settings.seed;
  options.keeper = keeper.get();
  qp::Solution solution = qp::solve_together(group, problem, source, stop, options, on_status);
  const RankWork own_work{problem.size(), source.counts().computed, solution.blocks,
                          source.counts().in_blocks, solution.block_seconds};
  BinaryResult result = make_result(problem, task, std::move(solution));
  result.own_work = own_work;
  MachineStats& stats = result.stats;
  stats.bounded_support_vectors = sum_of_all(group, stats.bounded_support_vectors);
  stats.kernel_evaluations = sum_of_all(group, source.counts().computed);
  stats.cached_evaluations = sum_of_all(group, source.counts().cached);
  return result;
}

BinaryResult train_binary(qp::RowSource& source, std::span<const double> cost,
                          const BinaryTask& task, const TrainedMachine* start,
                          std::span<const double> start_sums, const BinarySettings& settings,
                          const RunControl& control) {
  if (settings.task == Task::classification && has_one_class(task)) return constant_machine(task);
  qp::Problem problem = make_started(cost, task, start, settings);
  if (!start_sums.empty() && has_coefficients_of(*start, task, problem.start))
    problem.start_sums.assign(start_sums.begin(), start_sums.end());
  qp::StopCheck stop(settings.limits, control);
  return solve_task(problem, task, source, stop, settings.seed, {});
}

Index binary_state_bytes(Index rows) {
  return checked_product(rows, kStateRowBytes) + block_bytes(rows);
}

Index binary_least_bytes(const Matrix& features, Index rows, bool keeps_state) {
  const Index row_bytes = kBlockRowBytes + (keeps_state ? kCheckpointRowBytes : 0);
  return checked_sum(checked_product(rows, row_bytes), NearPoints::bytes(features, rows)) +
         block_bytes(rows);
}

Index binary_work_bytes(const Matrix& features, Index rows) {
  return checked_sum(KernelBlocks::packed_bytes(features, rows), binary_state_bytes(rows));
}

}  // namespace tamis

#include "methods/ensemble/member_task.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "data/task_bytes.hpp"
#include "kernels/plain_kernel.hpp"
#include "svm/expansion_builder.hpp"
#include "svm/row_order.hpp"
#include "tamis/error.hpp"
#include "tamis/version.hpp"

namespace tamis {
namespace {

constexpr std::string_view kTag = "tamis member " TAMIS_VERSION "\n";

void check_settings(const BinarySettings& settings) {
  switch (settings.kernel.type) {
    case KernelType::linear:
    case KernelType::polynomial:
    case KernelType::rbf:
    case KernelType::sigmoid:
    case KernelType::laplacian:
      break;
    default:
      TaskReader::fail();
  }
  try {
    settings.kernel.validate();
  } catch (const InvalidArgument&) {
    TaskReader::fail();
  }
  const qp::Limits& limits = settings.limits;
  if ((settings.loss != SlackLoss::l1 && settings.loss != SlackLoss::l2) || !(limits.eps > 0) ||
      limits.max_iterations < 0 || !(limits.max_seconds >= 0) || settings.cache_bytes < 0)
    TaskReader::fail();
}

}  // namespace

MemberResult train_member(const MemberTask& task, const Matrix& scored, const RunControl& control) {
  BinaryTask rows;
  rows.rows.resize(task.targets.size());
  std::iota(rows.rows.begin(), rows.rows.end(), 0);
  rows.targets.assign(task.targets.begin(), task.targets.end());
  MemberResult result;
  result.trained =
      train_binary(task.features, task.cost, ordered_by_content(task.features, task.cost, rows),
                   nullptr, task.settings, control, {});
  const StopReason reason = result.trained.stats.stop_reason;
  if (reason == StopReason::interrupted || reason == StopReason::time_limit) return result;
  result.values.resize(usize(scored.rows()));
  make_expansion(task.settings.kernel, task.features, std::span(&result.trained.machine, 1),
                 Decision::single)
      ->decision_values(scored, result.values, quiet(control));
  return result;
}

std::string rows_to_bytes(const Matrix& rows) {
  TaskWriter writer(kTag);
  writer.put_rows(rows);
  return writer.take();
}

std::string member_task_to_bytes(const MemberTask& task) {
  TaskWriter writer(kTag);
  writer.put_rows(task.features);
  writer.put_list(task.cost);
  writer.put_list(task.targets);
  const BinarySettings& settings = task.settings;
  writer.put(plain(settings.kernel));
  writer.put(settings.loss);
  writer.put(settings.limits);
  writer.put(settings.cache_bytes);
  writer.put(settings.seed);
  return writer.take();
}

std::string run_member_task(std::string_view bytes, std::string_view scored_bytes) {
  TaskReader reader(bytes, kTag);
  MemberTask task;
  task.features = reader.get_rows();
  task.cost = reader.get_list<double>();
  task.targets = reader.get_list<double>();
  const auto count = usize(task.features.rows());
  if (task.cost.size() != count || task.targets.size() != count) TaskReader::fail();
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(task.cost[i]) || task.cost[i] < 0 || std::abs(task.targets[i]) != 1)
      TaskReader::fail();
  }
  task.settings.kernel = kernel_of(reader.get<PlainKernel>());
  task.settings.loss = reader.get<SlackLoss>();
  task.settings.limits = reader.get<qp::Limits>();
  task.settings.cache_bytes = reader.get<Index>();
  task.settings.seed = reader.get<std::uint64_t>();
  check_settings(task.settings);
  TaskReader scored_reader(scored_bytes, kTag);
  const Matrix scored = scored_reader.get_rows();
  if (scored.cols() != task.features.cols()) TaskReader::fail();
  RunControl control;
  control.threads = 1;  // of the worker's, which runs several tasks at a time
  const MemberResult result =
      with_threads(control.threads, [&] { return train_member(task, scored, control); });
  TaskWriter answer(kTag);
  answer.put_list(result.trained.machine.rows);
  answer.put_list(result.trained.machine.coefficients);
  answer.put(result.trained.machine.offset);
  answer.put(result.trained.stats);
  answer.put_list(result.values);
  return answer.take();
}

MemberResult member_result_from_bytes(std::string_view bytes, Index task_rows, Index scored_rows) {
  TaskReader reader(bytes, kTag);
  MemberResult result;
  result.trained.machine.rows = reader.get_list<Index>();
  result.trained.machine.coefficients = reader.get_list<double>();
  result.trained.machine.offset = reader.get<double>();
  result.trained.stats = reader.get<MachineStats>();
  result.values = reader.get_list<double>();
  const TrainedMachine& machine = result.trained.machine;
  const bool are_known = std::all_of(machine.rows.begin(), machine.rows.end(),
                                     [&](Index row) { return row >= 0 && row < task_rows; });
  const StopReason reason = result.trained.stats.stop_reason;
  if (!are_known || machine.rows.size() != machine.coefficients.size() ||
      (!result.values.empty() && std::ssize(result.values) != scored_rows) ||
      reason < StopReason::converged || reason > StopReason::interrupted)
    TaskReader::fail();
  return result;
}

}  // namespace tamis

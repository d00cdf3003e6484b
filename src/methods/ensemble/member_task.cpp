#include "methods/ensemble/member_task.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "svm/expansion_builder.hpp"
#include "svm/row_order.hpp"
#include "tamis/error.hpp"
#include "tamis/version.hpp"

namespace tamis {
namespace {

constexpr std::string_view kTag = "tamis member " TAMIS_VERSION "\n";

template <typename T>
void put(const T& value, std::string* bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
void put_list(std::span<const T> values, std::string* bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  put(static_cast<std::uint64_t>(values.size()), bytes);
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

// The same in reverse. Bytes come from another process: every length is checked.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> get_list() {
    const auto count = get<std::uint64_t>();
    if (count > left_.size() / sizeof(T)) fail();
    std::vector<T> values(count);
    const std::string_view bytes = take(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  void expect(std::string_view tag) {
    if (!left_.starts_with(tag)) fail();
    left_.remove_prefix(tag.size());
  }
  [[noreturn]] static void fail() {
    throw DataError(
        "a task for a worker is damaged, or the worker has another version of tamis than the "
        "process that trains: install the same on all computers");
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > left_.size()) fail();
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return bytes;
  }

  std::string_view left_;
};

void put_rows(const Matrix& rows, std::string* bytes) {
  put(rows.rows(), bytes);
  put(rows.cols(), bytes);
  put(static_cast<std::uint8_t>(rows.is_sparse()), bytes);
  if (!rows.is_sparse()) {
    put_list(rows.dense_values(), bytes);
    return;
  }
  put_list(rows.row_offsets(), bytes);
  put_list(rows.sparse_columns(), bytes);
  put_list(rows.sparse_values(), bytes);
}

void check_settings(const BinarySettings& settings) {
  switch (settings.kernel.type) {
    case KernelType::linear:
    case KernelType::polynomial:
    case KernelType::rbf:
    case KernelType::sigmoid:
    case KernelType::laplacian:
      break;
    default:
      Reader::fail();
  }
  try {
    settings.kernel.validate();
  } catch (const InvalidArgument&) {
    Reader::fail();
  }
  const qp::Limits& limits = settings.limits;
  if ((settings.loss != SlackLoss::l1 && settings.loss != SlackLoss::l2) || !(limits.eps > 0) ||
      limits.max_iterations < 0 || !(limits.max_seconds >= 0) || settings.cache_bytes < 0)
    Reader::fail();
}

Matrix get_rows(Reader* reader) {
  const auto rows = reader->get<Index>();
  const auto cols = reader->get<Index>();
  if (reader->get<std::uint8_t>() == 0) {
    auto values = reader->get_list<float>();
    if (rows < 0 || cols < 0) Reader::fail();
    return Matrix::dense(rows, cols, std::move(values));
  }
  auto begins = reader->get_list<Index>();
  if (std::ssize(begins) != rows + 1) Reader::fail();
  auto columns = reader->get_list<std::int32_t>();
  return Matrix::sparse(cols, std::move(begins), std::move(columns), reader->get_list<float>());
}

}  // namespace

MemberResult train_member(const MemberTask& task, const Matrix& scored, const RunControl& control) {
  BinaryTask rows;
  rows.rows.resize(task.targets.size());
  std::iota(rows.rows.begin(), rows.rows.end(), 0);
  rows.targets = task.targets;
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
  std::string bytes(kTag);
  put_rows(rows, &bytes);
  return bytes;
}

std::string member_task_to_bytes(const MemberTask& task) {
  std::string bytes(kTag);
  put_rows(task.features, &bytes);
  put_list(std::span(task.cost), &bytes);
  put_list(std::span(task.targets), &bytes);
  const BinarySettings& settings = task.settings;
  put(settings.kernel, &bytes);
  put(settings.loss, &bytes);
  put(settings.limits, &bytes);
  put(settings.cache_bytes, &bytes);
  put(settings.seed, &bytes);
  return bytes;
}

std::string run_member_task(std::string_view bytes, std::string_view scored_bytes) {
  Reader reader(bytes);
  reader.expect(kTag);
  MemberTask task;
  task.features = get_rows(&reader);
  task.cost = reader.get_list<double>();
  task.targets = reader.get_list<double>();
  const auto count = usize(task.features.rows());
  if (task.cost.size() != count || task.targets.size() != count) Reader::fail();
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(task.cost[i]) || task.cost[i] < 0 || std::abs(task.targets[i]) != 1)
      Reader::fail();
  }
  task.settings.kernel = reader.get<Kernel>();
  task.settings.loss = reader.get<SlackLoss>();
  task.settings.limits = reader.get<qp::Limits>();
  task.settings.cache_bytes = reader.get<Index>();
  task.settings.seed = reader.get<std::uint64_t>();
  check_settings(task.settings);
  Reader scored_reader(scored_bytes);
  scored_reader.expect(kTag);
  const Matrix scored = get_rows(&scored_reader);
  if (scored.cols() != task.features.cols()) Reader::fail();
  RunControl control;
  control.threads = 1;  // of the worker's, which runs several tasks at a time
  const MemberResult result =
      with_threads(control.threads, [&] { return train_member(task, scored, control); });
  std::string answer(kTag);
  put_list(std::span(result.trained.machine.rows), &answer);
  put_list(std::span(result.trained.machine.coefficients), &answer);
  put(result.trained.machine.offset, &answer);
  put(result.trained.stats, &answer);
  put_list(std::span(result.values), &answer);
  return answer;
}

MemberResult member_result_from_bytes(std::string_view bytes, Index task_rows, Index scored_rows) {
  Reader reader(bytes);
  reader.expect(kTag);
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
    Reader::fail();
  return result;
}

}  // namespace tamis

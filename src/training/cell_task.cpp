#include "training/cell_task.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/parallel.hpp"
#include "data/task_bytes.hpp"
#include "kernels/plain_kernel.hpp"
#include "tamis/error.hpp"
#include "tamis/version.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

constexpr std::string_view kTag = "tamis cell " TAMIS_VERSION "\n";

// Numbers by class have done their part in the costs of the rows, and the labels may be any text.
bool is_sent(const OptionDescription& option) {
  return option.type != OptionType::labels && option.name != "max-seconds";
}

struct CellOptions {
  TrainOptions options;
  Kernel kernel;
  Index num_classes = 0;
};

CellOptions read_options(std::string_view bytes) {
  TaskReader reader(bytes, kTag);
  CellOptions read;
  read.kernel = kernel_of(reader.get<PlainKernel>());
  read.num_classes = reader.get<Index>();
  if (read.num_classes < 0 || read.kernel.type == KernelType::precomputed) TaskReader::fail();
  try {
    for (const OptionDescription& option : train_option_table()) {
      if (is_sent(option)) option.set_text(read.options, reader.get_text());
    }
    read.options.validate();
    read.kernel.validate();
  } catch (const InvalidArgument&) {
    TaskReader::fail();
  }
  if (find_method(read.options.method).train_cell == nullptr) TaskReader::fail();
  return read;
}

void require_usable(const CellTask& task) {
  const TrainingSet& set = task.set;
  const auto rows = usize(set.rows());
  const auto is_class = [&](std::int32_t code) { return code >= 0 && code < set.num_classes; };
  const auto is_column = [&](const CellBox::Face& face) {
    return face.column >= 0 && face.column < set.features.cols();
  };
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const auto is_cost = [](double cost) { return std::isfinite(cost) && cost >= 0; };
  if (rows == 0 || task.own < 1 || task.own + std::ssize(task.halo_positions) != set.rows() ||
      set.codes.size() != (set.is_regression() ? 0 : rows) ||
      set.targets.size() != (set.is_regression() ? rows : 0) || set.cost.size() != rows ||
      !std::all_of(set.codes.begin(), set.codes.end(), is_class) ||
      !std::all_of(set.targets.begin(), set.targets.end(), is_finite) ||
      !std::all_of(set.cost.begin(), set.cost.end(), is_cost) || !(task.seconds > 0) ||
      (task.box && !std::all_of(task.box->faces.begin(), task.box->faces.end(), is_column)))
    TaskReader::fail();
}

template <typename T>
void get_list(TaskReader* reader, RowVector<T>* values) {
  const std::vector<T> list = reader->get_list<T>();
  values->assign(list.begin(), list.end());
}

CellTask read_task(std::string_view bytes, const CellOptions& shared) {
  TaskReader reader(bytes, kTag);
  CellTask task;
  task.own = reader.get<Index>();
  task.seconds = reader.get<double>();
  task.halo_positions = reader.get_list<Index>();
  if (reader.get<std::uint8_t>() != 0) {
    CellBox& box = task.box.emplace();
    box.width = reader.get<double>();
    box.faces = reader.get_list<CellBox::Face>();
  }
  TrainingSet& set = task.set;
  get_list(&reader, &set.codes);
  get_list(&reader, &set.targets);
  get_list(&reader, &set.cost);
  set.features = reader.get_rows();
  set.num_classes = shared.num_classes;
  set.kernel = shared.kernel;
  require_usable(task);
  return task;
}

}  // namespace

FinishedCell train_cell_task(const Method& method, const CellTask& task,
                             const TrainOptions& options, const RunControl& control) {
  TrainOptions limited = options;
  if (std::isfinite(task.seconds)) limited.max_seconds = task.seconds;
  const Deadline deadline(control, task.seconds);
  const TrainContext context{limited, deadline.control(), {}};
  CellResult trained =
      method.train_cell({task.set, task.own, task.box ? &*task.box : nullptr}, context);
  StopReason& stop = trained.report.stop_reason;
  if (stop == StopReason::interrupted && !control.cancelled()) stop = StopReason::time_limit;
  return finish_cell(std::move(trained), task.own, task.halo_positions);
}

bool is_whole(const FinishedCell& cell) {
  return cell.facts.stats.stop_reason < StopReason::time_limit;
}

bool is_cell_task(std::string_view task) { return task.starts_with(kTag); }

std::string cell_task_to_bytes(const CellTask& task) {
  TaskWriter writer(kTag);
  writer.put(task.own);
  writer.put(task.seconds);
  writer.put_list(task.halo_positions);
  writer.put(static_cast<std::uint8_t>(task.box.has_value()));
  if (task.box) {
    writer.put(task.box->width);
    writer.put_list(task.box->faces);
  }
  writer.put_list(std::span<const std::int32_t>(task.set.codes));
  writer.put_list(std::span<const double>(task.set.targets));
  writer.put_list(std::span<const double>(task.set.cost));
  writer.put_rows(task.set.features);
  return writer.take();
}

std::string cell_options_to_bytes(const TrainOptions& options, const Kernel& kernel,
                                  Index num_classes) {
  TaskWriter writer(kTag);
  writer.put(plain(kernel));
  writer.put(num_classes);
  for (const OptionDescription& option : train_option_table()) {
    if (is_sent(option)) writer.put_text(option.text(options));
  }
  return writer.take();
}

std::string run_cell_task(std::string_view bytes, std::string_view shared_bytes) {
  const CellOptions shared = read_options(shared_bytes);
  const CellTask task = read_task(bytes, shared);
  RunControl control;
  control.threads = 1;  // of the worker's, which runs several tasks at a time
  FinishedCell cell = with_threads(control.threads, [&] {
    return train_cell_task(find_method(shared.options.method), task, shared.options, control);
  });
  // The answer depends on the task alone.
  cell.facts.index_seconds = cell.facts.cover_seconds = cell.facts.train_seconds = 0;
  return std::string(kTag) + cell_to_bytes(cell);
}

FinishedCell cell_from_answer(std::string_view answer, const CellShape& shape) {
  const TaskReader reader(answer, kTag);
  FinishedCell cell = parse_cell(std::string(reader.rest()));
  const bool are_positions = std::all_of(cell.outside.begin(), cell.outside.end(),
                                         [&](Index at) { return at >= 0 && at < shape.all_rows; });
  const StopReason reason = cell.facts.stats.stop_reason;
  const Matrix& rows = cell.parts.rows;
  if (!are_positions || rows.cols() != shape.cols || rows.is_sparse() != shape.is_sparse ||
      rows.rows() > shape.rows || cell.parts.num_classes != shape.num_classes ||
      reason < StopReason::converged || reason > StopReason::interrupted)
    TaskReader::fail();
  return cell;
}

}  // namespace tamis

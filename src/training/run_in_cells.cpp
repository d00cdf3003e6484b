#include "training/run_in_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "base/scratch.hpp"
#include "io/input_bytes.hpp"
#include "kernels/kernel_value.hpp"
#include "methods/common/report_stats.hpp"
#include "methods/local/falk.hpp"
#include "svm/deal_rows.hpp"
#include "tamis/error.hpp"
#include "tamis/tasks.hpp"
#include "tamis/text.hpp"
#include "training/cell_results.hpp"
#include "training/cell_shuffle.hpp"
#include "training/cell_task.hpp"
#include "training/learn_rows.hpp"
#include "training/metric.hpp"
#include "training/prepare.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kSampleSeed = 0xce115;
// Of the time for a cell that is trained elsewhere; the rest is for its way.
constexpr double kElsewhereShare = 0.9;
// Bytes that training a cell takes per row on top of its values, which are held three times:
// read, in order, and in the index.
constexpr Index kRowBytes = 96;

// How far the training of a cell has come.
enum class CellState : std::int8_t { missing, cut_short, whole };

class CellRun {
 public:
  CellRun(const Method& method, const Dataset& data, const TrainContext& context)
      : method_(method),
        data_(without_weightless_rows(data, &given_rows_, context.control)),
        context_(context),
        group_(group_of(context.control)),
        options_(context.options),
        rows_(sum_of_all(group_, data_.rows())) {
    if (rows_ == 0) throw DataError("the data has no rows");
    if (data_.cols() == 0)
      throw DataError("the data has no columns: there is nothing to learn from");
    // Halves of halves: of equal size, so that ranks have about as many rows to train.
    while (rows_ > checked_product(cells_, options_.local.cell_rows)) cells_ *= 2;
    if (!options_.local.k) options_.local.k = kDefaultNeighbors;
  }

  TrainedInCells run(bool learns_weights);

 private:
  void learn();
  double largest_cost() const;
  void settle_rows();
  void draw_sample();
  void learn_weights();
  void require_room() const;
  void write_rows();
  CellState state_of(Index cell) const;
  void train_own_cells();
  void train_elsewhere(TaskGroup& workers, const std::vector<Index>& cells);
  CellTask read_task(Index cell) const;
  void keep(const FinishedCell& trained, Index cell);
  RunControl control_of_cell(const RunControl& control) const;
  FinishedCell load(Index cell, CellState state) const;
  void add_stopgap(const std::vector<CellState>& states, StopReason stop, CellAssembly* assembly);
  void add_facts(const CellFacts& facts);
  void put_together();
  void end_phase(const char* name);

  const Method& method_;
  std::vector<Index> given_rows_;
  const Dataset data_;
  const TrainContext& context_;
  Group& group_;
  TrainOptions options_;
  Index rows_;
  Index cells_ = 1;
  LearnedRows learned_;
  TrainingSet sample_;
  CellPlan plan_;
  CellCounts counts_;
  std::optional<CellFiles> files_;
  Index rows_done_ = 0;  // own rows of the cells that this rank has trained, of
  Index rows_own_ = 0;   // so many
  double phase_start_ = 0;
  CellFacts facts_;
  MethodResult result_;
};

void CellRun::end_phase(const char* name) {
  const double now = context_.watch.seconds();
  result_.report.phase_seconds.emplace_back(name, now - phase_start_);
  phase_start_ = now;
}

void CellRun::learn() {
  const RunControl& control = context_.control;
  require_finite(data_.features());
  require_column_buffers(data_.features(), options_, control);
  learned_.classes = learn_classes(data_.labels(), options_, group_);
  learned_.class_factor = class_factors(data_, options_, learned_.classes, group_);
  learned_.has_weights = any_of_all(group_, !data_.weights().empty());
  if (options_.scaling_or_default() != ScalingMethod::none)
    learned_.scaling = Scaling::fit(data_.features(), options_.scaling_or_default(), 0, 1, control);
  learned_.kernel = Kernel{options_.kernel_or_default(), 1.0, options_.coef0, options_.degree};
  if (options_.kernel_or_default() != KernelType::linear)
    learned_.kernel.gamma = learn_gamma(options_.gamma_or_default(), data_.features(),
                                        scaled_blocks(data_.features(), learned_.scaling, control),
                                        options_.kernel_or_default(), group_);
  learned_.scaling =
      with_metric(learned_.scaling, options_.feature_weights, options_.metric_matrix, data_.cols());
}

double CellRun::largest_cost() const {
  double largest = 0;
  const Index step = rows_of_block(data_.features());
  for (Index begin = 0; begin < data_.rows(); begin += step) {
    std::vector<Index> rows(usize(std::min(step, data_.rows() - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    std::vector<std::int32_t> codes;
    if (!learned_.classes.empty())
      codes = codes_of_classes(data_.labels().select(rows), learned_.classes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double factor = learned_.class_factor[codes.empty() ? 0 : usize(codes[i])];
      largest = std::max(largest, cost_of_row(options_, data_.weight(rows[i]), factor));
    }
  }
  return largest;
}

// What can be known once the scaling is settled.
void CellRun::settle_rows() {
  const RowPasses rows = scaled_blocks(data_.features(), learned_.scaling, context_.control);
  if (options_.kernel_or_default() == KernelType::linear ||
      options_.kernel_or_default() == KernelType::polynomial)
    rows([&](const Matrix& some) { require_representable(learned_.kernel, some); });
  if (!any_of_all(group_, data_.features().is_sparse())) return;
  const Index of_cell = std::min(rows_, 2 * (rows_ / cells_ + 1));
  learned_.makes_dense =
      needs_differences(learned_.kernel, rows, largest_cost(), options_.eps, group_) &&
      !any_of_all(group_, !fits_dense(of_cell, data_.cols(), context_.control));
}

// The same rows for any number of ranks.
void CellRun::draw_sample() {
  const Index count = cell_sample_rows(rows_, data_.cols(), cells_);
  const Index first = sum_of_earlier(group_, data_.rows());
  Random random(kSampleSeed);
  DealtRows own;
  std::vector<Index> drawn;
  for (const Index row : sample_without_replacement(rows_, count, random)) {
    if (row < first || row >= first + data_.rows()) continue;
    drawn.push_back(row - first);
    own.positions.push_back(row);
  }
  const Index row_bytes = data_.features().size_bytes() / std::max<Index>(1, data_.rows()) + 1;
  require_memory("a sample of the rows", checked_product(std::ssize(drawn), row_bytes),
                 memory_left(context_.control.memory_bytes));
  own.set = training_rows(data_.select(drawn), learned_, options_, context_.control);
  std::vector<Index> all(drawn.size());
  std::iota(all.begin(), all.end(), Index{0});
  sample_ = group_.size() == 1 ? std::move(own.set) : gather_rows(own, all, group_).set;
}

void CellRun::learn_weights() {
  LearnedMetric metric =
      learn_metric(sample_, context_, kMetricShareOfTime * context_.seconds_left());
  if (metric.best_round > 0) {
    learned_.scaling = with_metric(learned_.scaling, metric.weights, metric.matrix, data_.cols());
    settle_rows();
    draw_sample();
  }
  TrainReport& report = result_.report;
  report.remarks.push_back(describe(metric, options_));
  if (context_.control.on_remark) context_.control.on_remark(report.remarks.back());
  report.details.emplace_back("metric_best_round", static_cast<double>(metric.best_round));
  report.tables.push_back(std::move(metric.rounds));
}

void CellRun::require_room() const {
  Index largest = 0;
  for (Index c = 0; c < plan_.size(); ++c)
    largest = std::max(largest, counts_.own(c) + counts_.halo[usize(c)]);
  const Index row_bytes =
      static_cast<Index>(static_cast<double>(sample_.features.size_bytes()) /
                         static_cast<double>(std::max<Index>(1, sample_.rows()))) +
      1;
  const Index needed = checked_product(largest, 3 * row_bytes + kRowBytes);
  const Index left = memory_left(context_.control.memory_bytes);
  if (needed <= left) return;
  throw ResourceError(fmt::format(
      "a cell of {} with its neighbors needs {}, but the memory budget leaves {}; raise it or use "
      "smaller cells (cell-rows is {})",
      counted(largest, "row"), format_bytes(needed), format_bytes(left), options_.local.cell_rows));
}

void CellRun::write_rows() {
  const Deadline deadline(context_.control, context_.seconds_left());
  CellShuffle shuffle(data_, learned_, options_, plan_, deadline.control());
  counts_ = shuffle.count();
  data_.require_intact();
  for (Index c = 0; c < plan_.size(); ++c) {
    // The sample has rows in every cell.
    if (counts_.own(c) == 0) throw DataError("the rows changed while they were read");
  }
  require_room();
  const std::uint64_t print = fingerprint(counts_, learned_.classes, options_);
  bool is_written = files_->is_kept() && files_->has_all_rows(print);
  for (Index c = group_.rank(); c < plan_.size() && is_written; c += group_.size())
    is_written = files_->has_result(c) || files_->has_rows(c);
  if (!any_of_all(group_, !is_written)) return;
  if (files_->is_kept() && group_.rank() == 0) files_->set_all_rows(print, false);
  any_of_all(group_, false);  // nobody writes before that
  shuffle.write(&*files_);
  data_.require_intact();
  if (!files_->is_kept()) return;
  any_of_all(group_, false);  // all files are there
  if (group_.rank() == 0) files_->set_all_rows(print, true);
}

CellState CellRun::state_of(Index cell) const {
  if (files_->has_result(cell)) return CellState::whole;
  std::error_code error;
  return std::filesystem::exists(files_->result_path(cell, false), error) ? CellState::cut_short
                                                                          : CellState::missing;
}

// Progress of the cell as a part of that of all.
RunControl CellRun::control_of_cell(const RunControl& control) const {
  RunControl own = control;
  own.group = nullptr;
  own.checkpoint = nullptr;
  own.on_remark = nullptr;
  if (!control.on_progress) return own;
  own.on_progress = [this, &control](Progress progress) {
    const Index cell_rows = std::max<Index>(1, rows_own_ / std::max<Index>(1, plan_.size()));
    const double within = std::max(0.0, progress.done_fraction) * static_cast<double>(cell_rows);
    progress.phase = "train";
    progress.done_fraction =
        std::min(1.0, (static_cast<double>(rows_done_) + within) / static_cast<double>(rows_own_));
    progress.elapsed_seconds = context_.watch.seconds() - phase_start_;
    progress.left_seconds =
        progress.done_fraction > 0
            ? progress.elapsed_seconds * (1 - progress.done_fraction) / progress.done_fraction
            : -1;
    progress.detail = fmt::format("{} of {} rows in finished cells", rows_done_, rows_own_);
    control.on_progress(progress);
  };
  return own;
}

CellTask CellRun::read_task(Index cell) const {
  ReadCell read = read_cell(*files_, cell, learned_, options_, sample_.features);
  const Index halo = std::ssize(read.halo_positions);
  if (read.set.rows() != counts_.own(cell) + halo || halo != counts_.halo[usize(cell)] ||
      std::ssize(read.set.cost) != read.set.rows())
    throw DataError(files_->folder() + ": the rows of a cell are damaged; remove the folder");
  CellTask task{std::move(read.set), counts_.own(cell), std::move(read.halo_positions)};
  if (plan_.size() > 1) task.box = plan_.box(cell);
  return task;
}

void CellRun::keep(const FinishedCell& trained, Index cell) {
  write_cell(trained, files_->result_path(cell, is_whole(trained)));
  if (is_whole(trained)) files_->drop_rows(cell);
  rows_done_ += counts_.own(cell);
}

// On workers that may come and go. What they did not train is left to do.
void CellRun::train_elsewhere(TaskGroup& workers, const std::vector<Index>& cells) {
  const auto shared = std::make_shared<const std::string>(
      cell_options_to_bytes(options_, learned_.kernel, learned_.classes.size()));
  const Deadline deadline(context_.control, context_.seconds_left());
  const RunControl reports = control_of_cell(context_.control);
  const auto make = [&](Index i) {
    const Index cell = cells[usize(i)];
    CellTask task = read_task(cell);
    // Its part of the time that is left to each worker.
    const double part = static_cast<double>(workers.places()) *
                        static_cast<double>(counts_.own(cell)) /
                        static_cast<double>(rows_own_ - rows_done_);
    task.seconds = kElsewhereShare * std::min(1.0, part) * context_.seconds_left();
    return cell_task_to_bytes(task);
  };
  const auto take = [&](Index i, const std::string& answer) {
    const Index cell = cells[usize(i)];
    keep(cell_from_answer(answer, {.rows = counts_.own(cell) + counts_.halo[usize(cell)],
                                   .all_rows = rows_,
                                   .cols = sample_.features.cols(),
                                   .num_classes = sample_.num_classes,
                                   .is_sparse = sample_.features.is_sparse()}),
         cell);
    if (reports.on_progress) reports.on_progress({});
  };
  workers.run_each(std::ssize(cells), make, take, shared, deadline.control());
}

void CellRun::train_own_cells() {
  std::vector<Index> todo;
  for (Index c = group_.rank(); c < plan_.size(); c += group_.size()) {
    rows_own_ += counts_.own(c);
    std::error_code ignored;
    std::filesystem::remove(files_->result_path(c, false), ignored);
    if (files_->has_result(c)) {
      rows_done_ += counts_.own(c);
      files_->drop_rows(c);
    } else {
      todo.push_back(c);
    }
  }
  if (auto* const workers = dynamic_cast<TaskGroup*>(&group_)) {
    train_elsewhere(*workers, todo);
    std::erase_if(todo, [&](Index c) { return state_of(c) != CellState::missing; });
  }
  const RunControl control = control_of_cell(context_.control);
  for (const Index c : todo) {
    if (context_.must_stop() != StopReason::converged) return;
    CellTask task = read_task(c);
    // Its part of the time that is left.
    task.seconds = context_.seconds_left() * static_cast<double>(counts_.own(c)) /
                   static_cast<double>(rows_own_ - rows_done_);
    keep(train_cell_task(method_, task, options_, control), c);
  }
}

FinishedCell CellRun::load(Index cell, CellState state) const {
  const int owner = static_cast<int>(cell % group_.size());
  const std::string path = files_->result_path(cell, state == CellState::whole);
  Group::Message message;
  if (owner == group_.rank()) {
    const InputBytes input = read_input(path, quiet(unstopped(context_.control)));
    const auto bytes = std::as_bytes(std::span(input.bytes));
    message.assign(bytes.begin(), bytes.end());
  }
  if (group_.size() > 1) message = group_.broadcast(std::move(message), owner);
  try {
    return parse_cell({reinterpret_cast<const char*>(message.data()), message.size()});
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}; remove it to begin anew", path, error.what()));
  }
}

// Where cells are without a model, one on the sample answers for them: its support vectors there
// are its anchors.
void CellRun::add_stopgap(const std::vector<CellState>& states, StopReason stop,
                          CellAssembly* assembly) {
  TrainOptions options = options_;
  RunControl control = quiet(context_.control);
  control.group = nullptr;
  // A caller who cancels before anything was trained gets a constant.
  if (stop != StopReason::interrupted || !assembly->empty()) {
    options.max_seconds = 1e-9;
    control.cancel = nullptr;
  }
  const TrainContext context{options, control, {}};
  CellResult trained = method_.train_cell({sample_, sample_.rows()}, context);
  trained.report.stop_reason = stop;
  FinishedCell cell = finish_cell(std::move(trained), sample_.rows(), {});
  std::vector<Index> anchors;
  for (Index row = 0; row < cell.parts.rows.rows(); ++row) {
    if (states[usize(plan_.cell_of(cell.parts.rows, row))] == CellState::missing)
      anchors.push_back(row);
  }
  cell.facts.centres = 0;
  add_facts(cell.facts);
  if (anchors.empty() && !assembly->empty()) return;
  if (!anchors.empty()) {
    cell.parts.machine_of_anchor = std::vector<std::int32_t>(anchors.size(), 0);
    cell.parts.anchors = std::move(anchors);
  }
  assembly->add(cell);
}

void CellRun::add_facts(const CellFacts& facts) {
  add_stats(facts.stats, &result_.report);
  result_.report.machines += facts.machines;
  facts_.centres += facts.centres;
  facts_.constants += facts.constants;
  facts_.inexact += facts.inexact;
  facts_.k_prime = std::max(facts_.k_prime, facts.k_prime);
  facts_.index_seconds += facts.index_seconds;
  facts_.cover_seconds += facts.cover_seconds;
  facts_.train_seconds += facts.train_seconds;
}

void CellRun::put_together() {
  std::vector<std::int8_t> own;
  for (Index c = group_.rank(); c < plan_.size() && files_; c += group_.size())
    own.push_back(static_cast<std::int8_t>(state_of(c)));
  const auto of_ranks = gather_lists(group_, own);
  std::vector<CellState> states(usize(plan_.size()), CellState::missing);
  for (std::size_t c = 0; c < states.size(); ++c) {
    const auto& list = of_ranks[c % of_ranks.size()];
    const std::size_t at = c / of_ranks.size();
    if (at < list.size()) states[c] = static_cast<CellState>(list[at]);
  }
  const StopReason stop = largest_of_all(group_, context_.must_stop());
  const bool all_whole =
      std::all_of(states.begin(), states.end(), [](CellState s) { return s == CellState::whole; });
  const std::string folder = files_ ? files_->folder() : scratch_folder(context_.control);
  std::optional<CellAssembly> assembly;
  for (Index c = 0; c < plan_.size(); ++c) {
    if (states[usize(c)] == CellState::missing) continue;
    const FinishedCell cell = load(c, states[usize(c)]);
    if (!assembly) {
      const bool has_all_rows = all_whole && cell.parts.machine_of_anchor.size() == counts_.own(c);
      assembly.emplace(folder, has_all_rows);
    }
    assembly->add(cell);
    add_facts(cell.facts);
  }
  if (!assembly) assembly.emplace(folder, false);
  if (!std::all_of(states.begin(), states.end(),
                   [](CellState s) { return s != CellState::missing; }))
    add_stopgap(states, stop == StopReason::converged ? StopReason::time_limit : stop, &*assembly);
  result_.machine = assembly->finish();
}

TrainedInCells CellRun::run(bool learns_weights_too) {
  phase_start_ = context_.watch.seconds();
  learn();
  settle_rows();
  draw_sample();
  const double prepare_seconds = context_.watch.seconds();
  phase_start_ = prepare_seconds;
  if (learns_weights_too) {
    learn_weights();
    end_phase("metric");
  }
  TrainReport& report = result_.report;
  report.machines = 0;
  try {
    if (cells_ > 1)
      // Ranks stop together, or not at all.
      plan_ = CellPlan(sample_.features, rows_, cells_, *options_.local.k,
                       group_.size() == 1 ? context_.control : unstopped(context_.control));
    files_.emplace(context_.control, group_);
    write_rows();
    end_phase("cells");
    train_own_cells();
  } catch (const Cancelled&) {
    if (!any_of_all(group_, context_.must_stop() != StopReason::converged)) throw;
    files_.reset();
  }
  end_phase("train");
  put_together();
  end_phase("assemble");
  const auto all_rows = static_cast<double>(rows_);
  const Index halo = std::accumulate(counts_.halo.begin(), counts_.halo.end(), Index{0});
  const auto centres = static_cast<double>(std::max<Index>(1, facts_.centres));
  report.details.emplace_back("cells", static_cast<double>(plan_.size()));
  report.details.emplace_back("halo_fraction", static_cast<double>(halo) / all_rows);
  report.details.emplace_back("inexact_fraction", static_cast<double>(facts_.inexact) / centres);
  report.details.emplace_back("centres", static_cast<double>(facts_.centres));
  report.details.emplace_back("k", static_cast<double>(std::min(rows_, *options_.local.k)));
  report.details.emplace_back("k_prime", static_cast<double>(facts_.k_prime));
  report.details.emplace_back("one_class_fraction",
                              static_cast<double>(facts_.constants) / centres);
  if (plan_.size() > 1) {
    report.remarks.push_back(fmt::format(
        "trained in {}; {:.2g} % of the neighborhoods may lack rows of another cell",
        counted(plan_.size(), "cell"), 100 * static_cast<double>(facts_.inexact) / centres));
  }
  return {std::move(result_), learned_.classes, learned_.scaling, rows_, prepare_seconds};
}

}  // namespace

bool trains_in_cells(const Method& method, const Dataset& data, const TrainContext& context) {
  if (method.train_cell == nullptr ||
      context.options.kernel_or_default() == KernelType::precomputed)
    return false;
  const Index weightless = std::count(data.weights().begin(), data.weights().end(), 0.0);
  Group& group = group_of(context.control);
  return group.size() > 1 || data.rows() - weightless > context.options.local.cell_rows;
}

TrainedInCells run_in_cells(const Method& method, const Dataset& data, const TrainContext& context,
                            bool learns_weights) {
  return CellRun(method, data, context).run(learns_weights);
}

}  // namespace tamis

#include "training/cell_results.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "io/machine_format.hpp"
#include "io/output_file.hpp"
#include "io/tensor_file.hpp"
#include "methods/common/report_stats.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

double detail_of(const TrainReport& report, std::string_view name) {
  for (const auto& [key, value] : report.details) {
    if (key == name) return value;
  }
  return 0;
}

double phase_of(const TrainReport& report, std::string_view name) {
  for (const auto& [key, value] : report.phase_seconds) {
    if (key == name) return value;
  }
  return 0;
}

CellFacts facts_of(const CellResult& trained) {
  const TrainReport& report = trained.report;
  CellFacts facts;
  facts.stats = stats_of(report);
  facts.machines = report.machines;
  facts.centres = static_cast<Index>(detail_of(report, "centres"));
  const auto only = trained.parts.only_class.span();
  facts.constants = std::count_if(only.begin(), only.end(), [](std::int32_t c) { return c >= 0; });
  facts.inexact = trained.inexact;
  facts.k_prime = static_cast<Index>(detail_of(report, "k_prime"));
  facts.index_seconds = phase_of(report, "index");
  facts.cover_seconds = phase_of(report, "centres");
  facts.train_seconds = phase_of(report, "local_training");
  return facts;
}

constexpr std::size_t kNumFacts = 16;

std::vector<double> to_numbers(const CellFacts& facts) {
  const MachineStats& stats = facts.stats;
  return {stats.objective,
          stats.gap,
          stats.violation,
          static_cast<double>(stats.iterations),
          static_cast<double>(stats.kernel_evaluations),
          static_cast<double>(stats.cached_evaluations),
          static_cast<double>(stats.bounded_support_vectors),
          static_cast<double>(stats.stop_reason),
          static_cast<double>(facts.machines),
          static_cast<double>(facts.centres),
          static_cast<double>(facts.constants),
          static_cast<double>(facts.inexact),
          static_cast<double>(facts.k_prime),
          facts.index_seconds,
          facts.cover_seconds,
          facts.train_seconds};
}

CellFacts from_numbers(std::span<const double> numbers) {
  if (numbers.size() != kNumFacts) throw DataError("'facts' has another length");
  CellFacts facts;
  MachineStats& stats = facts.stats;
  stats.objective = numbers[0];
  stats.gap = numbers[1];
  stats.violation = numbers[2];
  stats.iterations = static_cast<Index>(numbers[3]);
  stats.kernel_evaluations = static_cast<Index>(numbers[4]);
  stats.cached_evaluations = static_cast<Index>(numbers[5]);
  stats.bounded_support_vectors = static_cast<Index>(numbers[6]);
  stats.stop_reason = static_cast<StopReason>(static_cast<int>(numbers[7]));
  facts.machines = static_cast<Index>(numbers[8]);
  facts.centres = static_cast<Index>(numbers[9]);
  facts.constants = static_cast<Index>(numbers[10]);
  facts.inexact = static_cast<Index>(numbers[11]);
  facts.k_prime = static_cast<Index>(numbers[12]);
  facts.index_seconds = numbers[13];
  facts.cover_seconds = numbers[14];
  facts.train_seconds = numbers[15];
  return facts;
}

void put_cell(const FinishedCell& cell, ByteSink& out) {
  const LocalModels machine(cell.parts);
  TensorWriter writer;
  add_machine(writer, "", machine);
  writer.add("outside", {std::ssize(cell.outside)}, std::span<const Index>(cell.outside));
  writer.add("facts", {static_cast<Index>(kNumFacts)}, to_numbers(cell.facts));
  writer.write(out);
}

}  // namespace

FinishedCell finish_cell(CellResult trained, Index own, std::span<const Index> halo_positions) {
  FinishedCell cell;
  cell.facts = facts_of(trained);
  for (const Index row : trained.kept) {
    if (row >= own) cell.outside.push_back(halo_positions[usize(row - own)]);
  }
  cell.parts = std::move(trained.parts);
  return cell;
}

void write_cell(const FinishedCell& cell, const std::string& path) {
  OutputFile out(path);
  put_cell(cell, out);
  out.commit();
}

std::string cell_to_bytes(const FinishedCell& cell) {
  MemorySink sink;
  put_cell(cell, sink);
  return sink.release();
}

FinishedCell parse_cell(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  const TensorFile file({*owner, owner, std::ssize(*owner)});
  const auto machine = get_machine(file, "", nullptr);
  const auto* const local = dynamic_cast<const LocalModels*>(machine.get());
  if (local == nullptr) throw DataError("a cell holds another kind of model");
  FinishedCell cell;
  cell.parts = local->parts();
  const auto outside = file.get<Index>("outside", 1).values;
  cell.outside.assign(outside.begin(), outside.end());
  if (std::ssize(outside) > cell.parts.rows.rows()) throw DataError("'outside' has too many rows");
  cell.facts = from_numbers(file.get<double>("facts", 1).values);
  return cell;
}

struct CellAssembly::Arrays {
  explicit Arrays(const std::string& folder)
      : row_begin(folder),
        columns(folder),
        values(folder),
        anchors(folder),
        machine_of_anchor(folder),
        only_class(folder),
        gammas(folder),
        pair_begin(folder),
        pair_classes(folder),
        offsets(folder),
        term_begin(folder),
        term_rows(folder),
        coefficients(folder) {}

  Kernel kernel;
  Index num_classes = 0;
  Index cols = 0;
  Index num_rows = 0;
  bool is_sparse = false;
  bool has_cells = false;
  bool anchors_are_machines = true;  // anchor m has machine m

  ArrayFile<Index> row_begin;  // of sparse rows
  ArrayFile<std::int32_t> columns;
  ArrayFile<float> values;
  ArrayFile<Index> anchors;
  ArrayFile<std::int32_t> machine_of_anchor;
  ArrayFile<std::int32_t> only_class;
  ArrayFile<double> gammas;
  ArrayFile<Index> pair_begin;
  ArrayFile<std::int32_t> pair_classes;
  ArrayFile<double> offsets;
  ArrayFile<Index> term_begin;
  ArrayFile<Index> term_rows;
  ArrayFile<double> coefficients;
};

CellAssembly::CellAssembly(const std::string& folder, bool rows_are_anchors)
    : rows_are_anchors_(rows_are_anchors), arrays_(std::make_unique<Arrays>(folder)) {
  arrays_->pair_begin.append(0);
  arrays_->term_begin.append(0);
}

CellAssembly::~CellAssembly() = default;

bool CellAssembly::empty() const { return !arrays_->has_cells; }

// The first `count` of them.
void CellAssembly::add_rows(const Matrix& rows, Index count) {
  Arrays& to = *arrays_;
  if (!to.has_cells) {
    to.is_sparse = rows.is_sparse();
    to.cols = rows.cols();
    if (to.is_sparse) to.row_begin.append(0);
  }
  if (rows.is_sparse() != to.is_sparse || rows.cols() != to.cols)
    throw DataError("the cells have rows of different kinds");
  if (to.is_sparse) {
    const Index before = to.values.size();
    const Index stored = rows.row_offsets()[usize(count)];
    for (Index i = 1; i <= count; ++i) to.row_begin.append(before + rows.row_offsets()[usize(i)]);
    to.columns.append(rows.sparse_columns().first(usize(stored)));
    to.values.append(rows.sparse_values().first(usize(stored)));
  } else {
    to.values.append(rows.dense_values().first(usize(count * to.cols)));
  }
  to.num_rows += count;
}

void CellAssembly::add(const FinishedCell& cell) {
  Arrays& to = *arrays_;
  const LocalParts& part = cell.parts;
  const Index first_row = to.num_rows;
  const Index first_machine = to.only_class.size();
  const Index machines = part.only_class.size();
  const Index outside = rows_are_anchors_ ? std::ssize(cell.outside) : 0;
  const Index own = part.rows.rows() - outside;
  if (first_machine + machines > std::numeric_limits<std::int32_t>::max())
    throw ResourceError("the model has more local SVMs than 32-bit numbers; give a larger k");
  add_rows(part.rows, own);
  to.has_cells = true;
  to.kernel = part.kernel;
  to.num_classes = part.num_classes;
  const Index anchors = part.anchors.empty() ? own : part.anchors.size();
  for (Index a = 0; a < anchors; ++a) {
    if (!rows_are_anchors_)
      to.anchors.append(first_row + (part.anchors.empty() ? a : part.anchors[a]));
    to.machine_of_anchor.append(static_cast<std::int32_t>(
        first_machine + (part.machine_of_anchor.empty() ? a : part.machine_of_anchor[a])));
  }
  to.anchors_are_machines = to.anchors_are_machines && part.machine_of_anchor.empty();
  to.only_class.append(part.only_class.span());
  to.gammas.append(part.gammas.span());
  const Index first_pair = to.offsets.size();
  for (Index m = 1; m <= machines; ++m) to.pair_begin.append(first_pair + part.pair_begin[m]);
  to.pair_classes.append(part.pair_classes.span());
  to.offsets.append(part.offsets.span());
  const Index first_term = to.coefficients.size();
  for (Index p = 1; p < part.term_begin.size(); ++p)
    to.term_begin.append(first_term + part.term_begin[p]);
  for (const Index row : part.term_rows.span())
    to.term_rows.append(row < own ? first_row + row : cell.outside[usize(row - own)]);
  to.coefficients.append(part.coefficients.span());
}

std::shared_ptr<const LocalModels> CellAssembly::finish() {
  Arrays& from = *arrays_;
  LocalParts parts;
  parts.kernel = from.kernel;
  parts.num_classes = from.num_classes;
  const SharedArray<float> values = from.values.finish();
  if (from.is_sparse) {
    const SharedArray<Index> row_begin = from.row_begin.finish();
    const SharedArray<std::int32_t> columns = from.columns.finish();
    const auto owner = std::make_shared<
        const std::tuple<SharedArray<float>, SharedArray<Index>, SharedArray<std::int32_t>>>(
        values, row_begin, columns);
    parts.rows =
        Matrix::sparse_view(from.cols, row_begin.span(), columns.span(), values.span(), owner);
  } else {
    parts.rows = Matrix::dense_view(from.num_rows, from.cols, values.span().data(),
                                    std::make_shared<const SharedArray<float>>(values));
  }
  parts.anchors = from.anchors.finish();
  if (!from.anchors_are_machines) parts.machine_of_anchor = from.machine_of_anchor.finish();
  parts.only_class = from.only_class.finish();
  parts.gammas = from.gammas.finish();
  parts.pair_begin = from.pair_begin.finish();
  parts.pair_classes = from.pair_classes.finish();
  parts.offsets = from.offsets.finish();
  parts.term_begin = from.term_begin.finish();
  parts.term_rows = from.term_rows.finish();
  parts.coefficients = from.coefficients.finish();
  return std::make_shared<const LocalModels>(std::move(parts));
}

}  // namespace tamis

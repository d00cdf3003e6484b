#include "model/knn_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "model/decision_sums.hpp"
#include "neighbors/neighbor_index.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr Index kNeighboursAtOnce = Index{4} << 20;  // bounds the memory of a batch of queries

void require(bool ok, std::string_view what) {
  if (!ok) throw DataError(fmt::format("the neighbor model is inconsistent: {}", what));
}

}  // namespace

LazyMachine::LazyMachine(LazyParts parts) : parts_(std::move(parts)) {
  const Index rows = parts_.rows.rows();
  parts_.kernel.validate();
  require(parts_.kernel.type != KernelType::precomputed, "a precomputed kernel has no neighbors");
  require(rows > 0 && parts_.k > 0, "k and the number of rows must be positive");
  require(parts_.num_classes >= 0 && parts_.num_classes != 1, "classes");
  require(parts_.codes.size() == (parts_.num_classes > 0 ? rows : 0), "classes of the rows");
  require(parts_.targets.size() == (parts_.num_classes > 0 ? 0 : rows), "targets of the rows");
  require(parts_.cost.size() == rows, "costs of the rows");
  for (const std::int32_t code : parts_.codes.span())
    require(code >= 0 && code < parts_.num_classes, "the class of a row");
  for (const double target : parts_.targets.span()) require(std::isfinite(target), "a target");
  for (const double cost : parts_.cost.span())
    require(std::isfinite(cost) && cost > 0, "the cost of a row");
}

LazyMachine::~LazyMachine() = default;

const NeighborIndex& LazyMachine::index(const RunControl& control) const {
  const std::lock_guard<std::mutex> lock(index_mutex_);
  if (!index_) {
    require_finite(parts_.rows);
    // A thread that waits inside must not begin a task that asks for the index too.
    isolated([&] {
      index_ = make_neighbor_index(parts_.rows, neighbor_metric(parts_.kernel),
                                   Structure::automatic, control, parts_.k);
    });
  }
  return *index_;
}

// Calls answer(query, neighbours from near to far) for every row, from many threads.
template <typename Answer>
void LazyMachine::for_each_query(const Matrix& features, const RunControl& control,
                                 const Answer& answer) const {
  require_packing_memory(parts_.rows, features, control);
  const RunControl silent = quiet(control);
  const NeighborIndex& neighbours = index(silent);
  const Index k = std::min(parts_.k, parts_.rows.rows());
  const Index step = std::max<Index>(64, kNeighboursAtOnce / k);
  ProgressMeter meter(control, "predict", features.rows());
  for (Index begin = 0; begin < features.rows(); begin += step) {
    std::vector<Index> queries(usize(std::min(step, features.rows() - begin)));
    std::iota(queries.begin(), queries.end(), begin);
    const Neighbors found = neighbours.nearest(features, queries, k, silent);
    parallel_each(static_cast<Index>(queries.size()), [&](Index q) {
      isolated([&] { answer(begin + q, found.rows_of(q), silent); });
      meter.add(1);
    });
  }
}

void LazyMachine::decision_values(const Matrix& features, std::span<double> values,
                                  const RunControl& control) const {
  const Index columns = decision_shape().columns;
  for_each_query(features, control,
                 [&](Index query, std::span<const Index> neighbours, const RunControl& silent) {
                   answer(features, query, neighbours,
                          values.subspan(usize(query * columns), usize(columns)), silent);
                 });
}

void LazyMachine::classify(const Matrix& features, std::span<std::int32_t> classes,
                           const RunControl& control) const {
  for_each_query(features, control,
                 [&](Index query, std::span<const Index> neighbours, const RunControl& silent) {
                   classes[usize(query)] = class_of(features, query, neighbours, silent);
                 });
}

std::string KnnMachine::describe() const {
  return fmt::format("{} nearest of {}", parts_.k, counted(parts_.rows.rows(), "row"));
}

DecisionShape KnnMachine::decision_shape() const {
  if (parts_.num_classes > 2) return {Decision::one_vs_rest, parts_.num_classes};
  return {};
}

void KnnMachine::answer(const Matrix& /*features*/, Index /*query*/,
                        std::span<const Index> neighbours, std::span<double> values,
                        const RunControl& /*control*/) const {
  std::fill(values.begin(), values.end(), 0.0);
  double all = 0;
  for (const Index row : neighbours) {
    // A weight of w counts as w rows: the nearest k in all.
    const double weight = std::min(parts_.cost[row], static_cast<double>(parts_.k) - all);
    if (weight <= 0) break;
    all += weight;
    if (parts_.num_classes == 0)
      values[0] += weight * parts_.targets[row];
    else if (parts_.num_classes == 2)
      values[0] += parts_.codes[row] == 0 ? weight : -weight;
    else
      values[usize(parts_.codes[row])] += weight;
  }
  for (double& value : values) value /= all;
}

std::int32_t KnnMachine::class_of(const Matrix& features, Index query,
                                  std::span<const Index> neighbours,
                                  const RunControl& control) const {
  const DecisionShape shape = decision_shape();
  std::vector<double> values(usize(shape.columns));
  answer(features, query, neighbours, values, control);
  return winning_class(shape.decision, values, {});
}

std::string KnnSvmMachine::describe() const {
  return fmt::format("{}; an SVM on the {} nearest of {} for each query",
                     tamis::describe(parts_.kernel), parts_.k, counted(parts_.rows.rows(), "row"));
}

DecisionShape KnnSvmMachine::decision_shape() const {
  const Decision decision = local_decision(parts_.num_classes);
  return {decision, num_machines(decision, parts_.num_classes)};
}

LocalMachine KnnSvmMachine::train_on(std::span<const Index> neighbours,
                                     const RunControl& control) const {
  const LocalRows rows{
      parts_.rows, parts_.codes.span(), parts_.targets.span(), parts_.cost.span(), {}};
  std::vector<Index> own(neighbours.begin(), neighbours.end());
  std::sort(own.begin(), own.end());
  return trainer_(rows, own, parts_.kernel, settings_, control);
}

void KnnSvmMachine::answer(const Matrix& features, Index query, std::span<const Index> neighbours,
                           std::span<double> values, const RunControl& control) const {
  const LocalMachine machine = train_on(neighbours, control);
  local_values(view_of(machine), parts_.kernel, parts_.rows, parts_.num_classes, features,
               std::vector<Index>{query}, values);
}

std::int32_t KnnSvmMachine::class_of(const Matrix& features, Index query,
                                     std::span<const Index> neighbours,
                                     const RunControl& control) const {
  const LocalMachine machine = train_on(neighbours, control);
  std::int32_t found = 0;
  local_classes(view_of(machine), parts_.kernel, parts_.rows, parts_.num_classes, features,
                std::vector<Index>{query}, {&found, 1});
  return found;
}

}  // namespace tamis

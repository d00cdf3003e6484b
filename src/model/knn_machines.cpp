#include "model/knn_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "neighbors/neighbor_index.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr Index kNeighboursAtOnce = Index{4} << 20;  // bounds the memory of a batch of queries

void require(bool ok, std::string_view what) {
  if (!ok) throw DataError(fmt::format("the neighbours do not fit together: {}", what));
}

}  // namespace

LazyMachine::LazyMachine(LazyParts parts) : parts_(std::move(parts)) {
  const Index rows = parts_.rows.rows();
  parts_.kernel.validate();
  require(parts_.kernel.type != KernelType::precomputed, "a precomputed kernel has no neighbours");
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
      index_ = make_neighbor_index(parts_.rows, Metric{parts_.kernel}, Structure::automatic,
                                   control, parts_.k);
    });
  }
  return *index_;
}

void LazyMachine::decision_values(const Matrix& features, std::span<double> values,
                                  const RunControl& control) const {
  const RunControl silent = quiet(control);
  const NeighborIndex& neighbours = index(silent);
  const Index columns = num_columns();
  const Index k = std::min(parts_.k, parts_.rows.rows());
  const Index step = std::max<Index>(64, kNeighboursAtOnce / k);
  ProgressMeter meter(control, "predict", features.rows());
  for (Index begin = 0; begin < features.rows(); begin += step) {
    std::vector<Index> queries(usize(std::min(step, features.rows() - begin)));
    std::iota(queries.begin(), queries.end(), begin);
    const Neighbors found = neighbours.nearest(features, queries, k, silent);
    parallel_each(static_cast<Index>(queries.size()), [&](Index q) {
      isolated([&] {
        answer(features, begin + q, found.rows_of(q),
               values.subspan(usize((begin + q) * columns), usize(columns)), silent);
      });
      meter.add(1);
    });
  }
}

std::string KnnMachine::describe() const {
  return fmt::format("{} nearest of {}", parts_.k, counted(parts_.rows.rows(), "row"));
}

std::vector<std::string> KnnMachine::decision_columns(const Labels& classes) const {
  const Decision decision = parts_.num_classes > 2 ? Decision::one_vs_rest : Decision::single;
  return decision_column_names(decision, num_columns(), classes);
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

void KnnMachine::classify(const Matrix& features, std::span<std::int32_t> classes,
                          const RunControl& control) const {
  const std::size_t columns = usize(num_columns());
  std::vector<double> values(classes.size() * columns);
  decision_values(features, values, control);
  const Decision decision = parts_.num_classes > 2 ? Decision::one_vs_rest : Decision::single;
  for (std::size_t i = 0; i < classes.size(); ++i)
    classes[i] = winning_class(decision, std::span(values).subspan(i * columns, columns), {});
}

std::string KnnSvmMachine::describe() const {
  return fmt::format("{}; a machine on the {} nearest of {} for each query",
                     tamis::describe(parts_.kernel), parts_.k, counted(parts_.rows.rows(), "row"));
}

std::vector<std::string> KnnSvmMachine::decision_columns(const Labels& classes) const {
  return decision_column_names(local_decision(parts_.num_classes), num_columns(), classes);
}

Index KnnSvmMachine::num_columns() const {
  return num_machines(local_decision(parts_.num_classes), parts_.num_classes);
}

void KnnSvmMachine::answer(const Matrix& features, Index query, std::span<const Index> neighbours,
                           std::span<double> values, const RunControl& control) const {
  const LocalRows rows{
      parts_.rows, parts_.codes.span(), parts_.targets.span(), parts_.cost.span(), {}};
  std::vector<Index> own(neighbours.begin(), neighbours.end());
  std::sort(own.begin(), own.end());
  const LocalMachine machine = trainer_(rows, own, parts_.kernel, settings_, control);
  local_values(view_of(machine), parts_.kernel, parts_.rows, parts_.num_classes, features,
               std::vector<Index>{query}, values);
}

void KnnSvmMachine::classify(const Matrix& features, std::span<std::int32_t> classes,
                             const RunControl& control) const {
  std::vector<double> values(usize(checked_product(features.rows(), num_columns())));
  decision_values(features, values, control);
  local_classes(parts_.num_classes, values, classes);
}

}  // namespace tamis

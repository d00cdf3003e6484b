#include "model/linear_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Products of one task: a few milliseconds, so that it is cancelled in time.
constexpr Index kTaskProducts = Index{4} << 20;

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

const LinearParts* linear_parts(const Model& model) {
  const auto* linear = dynamic_cast<const LinearMachine*>(shared_machine(model).get());
  return linear == nullptr ? nullptr : &linear->parts();
}

LinearMachine::LinearMachine(LinearParts parts) : parts_(std::move(parts)) {
  const Index machines = num_machines();
  if (machines < 1 || (parts_.decision == Decision::single && machines != 1)) {
    throw DataError(fmt::format("a decision {} cannot have {}", decision_name(parts_.decision),
                                counted(machines, "binary SVM")));
  }
  if (parts_.num_features < 0 ||
      checked_product(machines, parts_.num_features) != static_cast<Index>(parts_.weights.size())) {
    throw DataError(fmt::format("{} for {} of {}", counted(parts_.weights.size(), "weight"),
                                counted(machines, "binary SVM"),
                                counted(parts_.num_features, "column")));
  }
  if (!all_finite(parts_.weights)) throw DataError("a weight is not finite");
  if (!all_finite(parts_.offsets)) throw DataError("an intercept is not finite");
  by_column_.resize(parts_.weights.size());
  for (Index m = 0; m < machines; ++m) {
    for (Index j = 0; j < parts_.num_features; ++j)
      by_column_[usize(j * machines + m)] = parts_.weights[usize(m * parts_.num_features + j)];
  }
}

bool LinearMachine::is_constant() const {
  return std::all_of(parts_.weights.begin(), parts_.weights.end(), [](double w) { return w == 0; });
}

std::string LinearMachine::describe() const {
  std::string text = "linear";
  if (parts_.decision != Decision::single)
    text += fmt::format("; {} {}", counted(num_machines(), "binary SVM"),
                        decision_name(parts_.decision));
  return text;
}

// Rows are not blown up to the many columns that sparse rows had in training.
Matrix LinearMachine::fit_columns(const Matrix& features) const {
  const bool make_sparse = !features.is_sparse() && num_features() / 4 > features.cols();
  return Machine::fit_columns(make_sparse ? features.to_sparse() : features);
}

void LinearMachine::values_of_row(const Matrix& features, Index row,
                                  std::span<double> values) const {
  const auto machines = values.size();
  std::copy(parts_.offsets.begin(), parts_.offsets.end(), values.begin());
  const auto add = [&](std::size_t column, float value) {
    const double* w = by_column_.data() + column * machines;
    for (std::size_t m = 0; m < machines; ++m) values[m] += w[m] * static_cast<double>(value);
  };
  if (features.is_sparse()) {
    const SparseRow entries = features.sparse_row(row);
    for (std::size_t k = 0; k < entries.columns.size(); ++k)
      add(usize(entries.columns[k]), entries.values[k]);
  } else {
    const auto entries = features.dense_row(row);
    for (std::size_t j = 0; j < entries.size(); ++j) add(j, entries[j]);
  }
}

template <typename Finish>
void LinearMachine::for_each_row(const Matrix& features, const RunControl& control,
                                 const Finish& finish) const {
  TAMIS_CHECK(features.cols() == num_features());
  const Index rows = features.rows();
  const Index stored = features.num_stored() / std::max<Index>(1, rows) + 1;
  const Index step = std::clamp<Index>(kTaskProducts / (stored * num_machines()), 1, 4096);
  ProgressMeter meter(control, "predict", rows);
  parallel_each((rows + step - 1) / step, [&](Index task) {
    std::vector<double> values(usize(num_machines()));
    const Index begin = task * step;
    const Index end = std::min(begin + step, rows);
    for (Index i = begin; i < end; ++i) {
      values_of_row(features, i, values);
      if (!all_finite(values))
        throw DataError("the linear model overflows on these rows: scale the features");
      finish(i, values);
    }
    meter.add(end - begin);
  });
}

void LinearMachine::decision_values(const Matrix& features, std::span<double> values,
                                    const RunControl& control) const {
  const auto machines = usize(num_machines());
  TAMIS_CHECK(values.size() == usize(features.rows()) * machines);
  for_each_row(features, control, [&](Index i, const std::vector<double>& row) {
    std::copy(row.begin(), row.end(), values.subspan(usize(i) * machines, machines).begin());
  });
}

void LinearMachine::classify(const Matrix& features, std::span<std::int32_t> classes,
                             const RunControl& control) const {
  TAMIS_CHECK(static_cast<Index>(classes.size()) == features.rows());
  const Index voters = num_voters(parts_.decision, num_machines());
  for_each_row(features, control, [&](Index i, const std::vector<double>& row) {
    std::vector<std::int32_t> votes(usize(voters));
    classes[usize(i)] = winning_class(parts_.decision, row, votes);
  });
}

}  // namespace tamis

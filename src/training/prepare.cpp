#include "training/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "kernels/kernel_value.hpp"
#include "model/machine.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

void encode_targets(const Dataset& data, const TrainOptions& options, Prepared* prepared) {
  const Labels& labels = data.labels();
  if (labels.kind() == LabelKind::none) throw DataError("the data has no labels to learn");
  if (options.task == Task::regression) {
    if (labels.kind() != LabelKind::numeric)
      throw DataError("a regression needs numbers as labels, and these are words");
    for (Index i = 0; i < labels.size(); ++i) {
      if (!std::isfinite(labels.number(i)))
        throw DataError(fmt::format("the label of row {} is not finite", i + 1));
      prepared->set.targets.push_back(labels.number(i));
    }
    return;
  }
  prepared->classes = distinct_classes(labels);
  if (prepared->classes.size() < 2) {
    throw DataError(
        fmt::format("every row has the label {}: two classes or more are needed", labels.name(0)));
  }
  prepared->set.num_classes = prepared->classes.size();
  prepared->set.classes = prepared->classes;
  prepared->set.codes = encode_labels(labels, prepared->classes);
}

// Beyond these, squares of coefficients overflow, and 1 / C is no float: the answers would be no
// numbers. A row whose C is out of range has no other meaning than one at the end of it.
constexpr double kLeastCost = 1e-30;
constexpr double kMostCost = 1e100;

// C of each row: the cost, times the row's weight, times its class's.
void set_costs(const Dataset& data, const TrainOptions& options, Prepared* prepared) {
  std::vector<double> factor(usize(std::max<Index>(1, prepared->classes.size())), 1.0);
  if (options.task == Task::classification) {
    for (const auto& [label, weight] : options.class_weights) {
      const Index c = find_class(prepared->classes, label);
      if (c < 0)
        throw InvalidArgument(
            fmt::format("class-weight names class {}, which the data does not have", label));
      factor[usize(c)] *= weight;  // named twice: both count, as in LIBSVM
    }
    if (options.balanced) {
      std::vector<double> rows(factor.size(), 0.0);
      double all = 0;
      for (Index i = 0; i < data.rows(); ++i) {
        rows[usize(prepared->set.codes[usize(i)])] += data.weight(i);
        all += data.weight(i);
      }
      for (std::size_t c = 0; c < factor.size(); ++c)
        factor[c] *= all / (static_cast<double>(factor.size()) * rows[c]);
    }
  }
  for (Index i = 0; i < data.rows(); ++i) {
    const double of_class =
        prepared->set.codes.empty() ? 1.0 : factor[usize(prepared->set.codes[usize(i)])];
    const double cost = options.cost_or_default() * data.weight(i) * of_class;
    // Not a number: the weights of all rows together overflowed.
    prepared->set.cost.push_back(cost < kMostCost ? std::max(cost, kLeastCost) : kMostCost);
  }
}

// Sparse distances come from |x|^2 + |z|^2 - 2<x, z> (Laplacian kernel: from |x|_1 + |z|_1 and what
// they have in common), whose float32 rounding, about 2.4e-7 |x|^2, becomes a relative error of
// gamma times that in the kernel, and of C times that in the decision values. Where it would show
// beside the tolerance, rows are made dense: their differences are exact.
bool needs_differences(const Prepared& prepared, double eps) {
  const bool is_l1 = prepared.set.kernel.type == KernelType::laplacian;
  if ((prepared.set.kernel.type != KernelType::rbf && !is_l1) || !prepared.set.features.is_sparse())
    return false;
  double largest = 0;
  for (Index i = 0; i < prepared.set.features.rows(); ++i) {
    double norm = 0;
    for (const float v : prepared.set.features.sparse_row(i).values)
      norm += is_l1 ? std::abs(static_cast<double>(v))
                    : static_cast<double>(v) * static_cast<double>(v);
    largest = std::max(largest, norm);
  }
  const double cost = *std::max_element(prepared.set.cost.begin(), prepared.set.cost.end());
  return 2.4e-7 * largest * prepared.set.kernel.gamma * cost > eps;
}

// Three times: the rows, their packed copy, and room for everything else.
bool fits_dense(const Matrix& features, const RunControl& control) {
  const double bytes =
      static_cast<double>(features.rows()) * static_cast<double>(features.cols()) * sizeof(float);
  return 3 * bytes <
         static_cast<double>(resolve_memory_budget(control.memory_bytes) - resident_memory_bytes());
}

// Sparse rows are multiplied through a buffer that has a place for every column.
void require_packing_memory(const Matrix& features, const TrainOptions& options,
                            const RunControl& control) {
  if (!features.is_sparse() || options.kernel == KernelType::precomputed) return;
  require_column_memory("training", features.cols(), kPackedColumnBytes,
                        resolve_memory_budget(control.memory_bytes) / 4);
}

// What can be known once the rows are scaled.
void settle_rows(const TrainOptions& options, const RunControl& control, Prepared* prepared) {
  require_representable(prepared->set.kernel, prepared->set.features);
  if (needs_differences(*prepared, options.eps) && fits_dense(prepared->set.features, control))
    prepared->set.features = prepared->set.features.to_dense();
}

}  // namespace

Dataset without_weightless_rows(const Dataset& data, std::vector<Index>* kept) {
  if (std::none_of(data.weights().begin(), data.weights().end(), [](double w) { return w == 0; }))
    return data;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) kept->push_back(i);
  }
  if (kept->empty()) throw DataError("every row has weight 0: nothing to learn from");
  return data.select(*kept);
}

double resolve_gamma(const Gamma& gamma, const Matrix& features, KernelType kernel) {
  if (gamma.rule == Gamma::Rule::value) return gamma.value;
  const double cols = static_cast<double>(std::max<Index>(1, features.cols()));
  if (gamma.rule == Gamma::Rule::per_features) return 1 / cols;
  const double count = static_cast<double>(features.rows()) * cols;
  double sum = 0;
  double squares = 0;
  for (const float v : features.is_sparse() ? features.sparse_values() : features.dense_values()) {
    sum += static_cast<double>(v) / count;
  }
  for (const float v : features.is_sparse() ? features.sparse_values() : features.dense_values()) {
    squares += (static_cast<double>(v) - sum) * (static_cast<double>(v) - sum) / count;
  }
  if (features.is_sparse()) {
    squares +=
        sum * sum * (count - static_cast<double>(features.num_stored())) / count;  // the zeros
  }
  const double gamma_value =
      1 / (cols * (kernel == KernelType::laplacian ? std::sqrt(squares) : squares));
  return std::isfinite(gamma_value) && gamma_value > 0 ? gamma_value : 1;
}

Prepared prepare(const Dataset& given, const TrainOptions& options, bool uses_kernel,
                 const RunControl& control) {
  Prepared prepared;
  const Dataset data = without_weightless_rows(given, &prepared.given_rows);
  if (data.rows() == 0) throw DataError("the data has no rows");
  if (data.cols() == 0) throw DataError("the data has no columns: there is nothing to learn from");
  require_finite(data.features());
  if (uses_kernel) require_packing_memory(data.features(), options, control);
  encode_targets(data, options, &prepared);
  set_costs(data, options, &prepared);
  prepared.unscaled = data.features();
  prepared.set.features = data.features();
  if (options.scaling_or_default() != ScalingMethod::none) {
    prepared.scaling = Scaling::fit(data.features(), options.scaling_or_default(), 0, 1, control);
    prepared.set.features = prepared.scaling.apply(data.features(), control);
  }
  if (!uses_kernel) {
    prepared.set.kernel = Kernel{KernelType::linear};
    return prepared;
  }
  prepared.set.kernel = Kernel{options.kernel, 1.0, options.coef0, options.degree};
  if (options.kernel != KernelType::linear && options.kernel != KernelType::precomputed) {
    prepared.set.kernel.gamma =
        resolve_gamma(options.gamma_or_default(), prepared.set.features, options.kernel);
  }
  if (options.feature_weights.empty())
    settle_rows(options, control, &prepared);
  else
    weigh_features(options.feature_weights, options, control, &prepared);
  return prepared;
}

void weigh_features(const std::vector<float>& weights, const TrainOptions& options,
                    const RunControl& control, Prepared* prepared) {
  if (static_cast<Index>(weights.size()) != prepared->unscaled.cols())
    throw InvalidArgument(fmt::format("{} for {}", counted(weights.size(), "feature weight"),
                                      counted(prepared->unscaled.cols(), "column")));
  prepared->scaling = prepared->scaling.with_weights(weights);
  prepared->set.features = prepared->scaling.apply(prepared->unscaled, control);
  settle_rows(options, control, prepared);
}

}  // namespace tamis

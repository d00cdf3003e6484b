#include "training/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
#include "base/fixed_sum.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "data/gather_labels.hpp"
#include "kernels/kernel_value.hpp"
#include "model/machine.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {

namespace {

void encode_targets(const Dataset& data, const TrainOptions& options, Group& group,
                    Prepared* prepared) {
  const Labels& labels = data.labels();
  if (largest_of_all(group, labels.kind()) == LabelKind::none)
    throw DataError("the data has no labels to learn");
  if (options.task == Task::regression) {
    if (labels.kind() == LabelKind::text)
      throw DataError("a regression needs numbers as labels, and these are words");
    for (Index i = 0; i < labels.size(); ++i) {
      if (!std::isfinite(labels.number(i)))
        throw DataError(fmt::format("the label of row {} is not finite", i + 1));
      prepared->set.targets.push_back(labels.number(i));
    }
    return;
  }
  prepared->classes =
      distinct_classes(labels_of_all(labels.empty() ? labels : distinct_classes(labels), group));
  if (prepared->classes.size() < 2) {
    throw DataError(fmt::format("every row has the label {}: two classes or more are needed",
                                prepared->classes.name(0)));
  }
  prepared->set.num_classes = prepared->classes.size();
  prepared->set.classes = prepared->classes;
  if (!labels.empty()) prepared->set.codes = encode_labels(labels, prepared->classes);
}

// Beyond these, squares of coefficients overflow, and 1 / C is no float: the answers would be no
// numbers. A row whose C is out of range has no other meaning than one at the end of it.
constexpr double kLeastCost = 1e-30;
constexpr double kMostCost = 1e100;

// C of each row: the cost, times the row's weight, times its class's.
void set_costs(const Dataset& data, const TrainOptions& options, Group& group, Prepared* prepared) {
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
      std::vector<ExactSum> rows(factor.size());
      for (Index i = 0; i < data.rows(); ++i)
        rows[usize(prepared->set.codes[usize(i)])].add(data.weight(i));
      ExactSum all;
      for (ExactSum& of_class : rows) {
        of_class = sum_of_all(group, of_class);
        all.add(of_class);
      }
      for (std::size_t c = 0; c < factor.size(); ++c)
        factor[c] *= all.value() / (static_cast<double>(factor.size()) * rows[c].value());
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

// 1 / (columns * variance of all values, or their deviation for the Laplacian kernel), for the rows
// of all ranks. The sums are the same for every order of the values.
double gamma_of_all(const Gamma& gamma, const Matrix& features, KernelType kernel, Group& group) {
  if (gamma.rule == Gamma::Rule::value) return gamma.value;
  const double cols = static_cast<double>(std::max<Index>(1, features.cols()));
  if (gamma.rule == Gamma::Rule::per_features) return 1 / cols;
  const auto values = features.is_sparse() ? features.sparse_values() : features.dense_values();
  const Index count = sum_of_all(group, features.rows()) * features.cols();
  const Index stored = sum_of_all(group, features.num_stored());
  double largest = 0;
  for (const float v : values) largest = std::max(largest, std::abs(static_cast<double>(v)));
  largest = largest_of_all(group, largest);
  const auto mean_of = [&](double most, const auto& term) {
    FixedSum sum(most, count);
    for (const float v : values) sum.add(term(static_cast<double>(v)));
    sum.set_total(sum_of_all(group, sum.total()));
    return sum.value() / static_cast<double>(count);
  };
  const double mean = mean_of(largest, [](double v) { return v; });
  double variance =
      mean_of(4 * largest * largest, [&](double v) { return (v - mean) * (v - mean); });
  variance += mean * mean * static_cast<double>(count - stored) / static_cast<double>(count);
  const double gamma_value =
      1 / (cols * (kernel == KernelType::laplacian ? std::sqrt(variance) : variance));
  return std::isfinite(gamma_value) && gamma_value > 0 ? gamma_value : 1;
}

// The rounding r of a distance becomes a relative one of gamma r in the kernel value, and of C
// gamma r in the decision value of a row that has one bounded support vector close by; where it has
// more, their roundings have either sign. A KKT violation is the difference of two decision values,
// and the largest of some 10,000 differences is near four standard deviations. Where that shows
// next to the tolerance, rows are made dense: their differences are exact.
bool needs_differences(const Prepared& prepared, double eps, Group& group) {
  const Matrix& features = prepared.set.features;
  const bool is_l1 = prepared.set.kernel.type == KernelType::laplacian;
  if ((prepared.set.kernel.type != KernelType::rbf && !is_l1) || !features.is_sparse())
    return false;
  double largest = 0;
  for (Index i = 0; i < features.rows(); ++i) {
    double norm = 0;
    for (const float v : features.sparse_row(i).values)
      norm += is_l1 ? std::abs(static_cast<double>(v))
                    : static_cast<double>(v) * static_cast<double>(v);
    largest = std::max(largest, norm);
  }
  double cost = 0;
  for (const double of_row : prepared.set.cost) cost = std::max(cost, of_row);
  const auto rows = static_cast<double>(sum_of_all(group, features.rows()));
  const auto stored = static_cast<double>(sum_of_all(group, features.num_stored()));
  const double of_score = largest_of_all(group, cost) * prepared.set.kernel.gamma *
                          distance_rounding(largest_of_all(group, largest), stored / rows);
  return 4 * std::sqrt(2.0) * of_score > 0.5 * eps;
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
  Group& group = group_of(control);
  if (needs_differences(*prepared, options.eps, group) &&
      !any_of_all(group, !fits_dense(prepared->set.features, control)))
    prepared->set.features = prepared->set.features.to_dense();
}

}  // namespace

// The distance is |x|^2 + |z|^2 - 2<x, z> in float32
// (Laplacian kernel: |x|_1 + |z|_1 and twice what they have in common), for rows of norm N with n
// values. A rounding is at most u = 2^-24 of its result, its square u^2 / 3 on average. The norms
// are rounded once each (N), their sum (2 N), and twice the product n times, while it grows from 0
// to N, so that its square is N^2 / 3 on average:
//   u N sqrt((1 + 1 + 4 + 4 n / 3) / 3)
double distance_rounding(double norm, double values_per_row) {
  return 0x1p-24 * norm * std::sqrt((6 + 4 * values_per_row / 3) / 3);
}

Dataset without_weightless_rows(const Dataset& data, std::vector<Index>* kept, Group& group) {
  if (std::none_of(data.weights().begin(), data.weights().end(), [](double w) { return w == 0; }))
    return data;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) kept->push_back(i);
  }
  // On several ranks, another one may have rows that count; prepare() looks at all.
  if (kept->empty() && group.size() == 1)
    throw DataError("every row has weight 0: nothing to learn from");
  return data.select(*kept);
}

double resolve_gamma(const Gamma& gamma, const Matrix& features, KernelType kernel) {
  return gamma_of_all(gamma, features, kernel, alone());
}

Prepared prepare(const Dataset& given, const TrainOptions& options, bool uses_kernel,
                 const RunControl& control) {
  Prepared prepared;
  Group& group = group_of(control);
  const Dataset data = without_weightless_rows(given, &prepared.given_rows, group);
  if (sum_of_all(group, data.rows()) == 0) throw DataError("the data has no rows");
  if (data.cols() == 0) throw DataError("the data has no columns: there is nothing to learn from");
  require_finite(data.features());
  if (uses_kernel) require_packing_memory(data.features(), options, control);
  encode_targets(data, options, group, &prepared);
  set_costs(data, options, group, &prepared);
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
        gamma_of_all(options.gamma_or_default(), prepared.set.features, options.kernel, group);
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

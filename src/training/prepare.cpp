#include "training/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "data/copy_rows.hpp"
#include "kernels/kernel_value.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"
#include "training/learn_rows.hpp"

namespace tamis {

namespace {

constexpr Index kLabelsAtOnce = Index{1} << 20;
// Of the memory that the budget leaves, what classes and costs of the rows may take.
constexpr Index kShareOfFacts = 8;

Labels labels_between(const Labels& labels, Index begin, Index end) {
  if (begin == 0 && end == labels.size()) return labels;
  std::vector<Index> rows(usize(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return labels.select(rows);
}

void encode_targets(const Dataset& data, const TrainOptions& options, Group& group,
                    Prepared* prepared) {
  const Labels& labels = data.labels();
  prepared->classes = learn_classes(labels, options, group);
  if (options.task == Task::regression) {
    prepared->set.targets.reserve(usize(labels.size()));
    for (Index i = 0; i < labels.size(); ++i) prepared->set.targets.push_back(labels.number(i));
    return;
  }
  prepared->set.num_classes = prepared->classes.size();
  prepared->set.classes = prepared->classes;
  RowVector<std::int32_t>& codes = prepared->set.codes;
  codes.reserve(usize(labels.size()));
  for (Index begin = 0; begin < labels.size(); begin += kLabelsAtOnce) {
    const Index end = std::min(labels.size(), begin + kLabelsAtOnce);
    const auto some = codes_of_classes(labels_between(labels, begin, end), prepared->classes);
    codes.insert(codes.end(), some.begin(), some.end());
  }
}

// C of each row: the cost, times the row's weight, times its class's.
void set_costs(const Dataset& data, const TrainOptions& options, Group& group, Prepared* prepared) {
  const std::vector<double> factor = class_factors(data, options, prepared->classes, group);
  prepared->set.cost.reserve(usize(data.rows()));
  for (Index i = 0; i < data.rows(); ++i) {
    const double of_class =
        prepared->set.codes.empty() ? 1.0 : factor[usize(prepared->set.codes[usize(i)])];
    prepared->set.cost.push_back(cost_of_row(options, data.weight(i), of_class));
  }
}

// What can be known once the rows are scaled.
void settle_rows(const TrainOptions& options, const RunControl& control, Prepared* prepared) {
  require_representable(prepared->set.kernel, prepared->set.features);
  Group& group = group_of(control);
  const RowVector<double>& costs = prepared->set.cost;
  const double largest = costs.empty() ? 0 : *std::max_element(costs.begin(), costs.end());
  if (needs_differences(prepared->set.kernel, whole_rows(prepared->set.features), largest,
                        options.eps, group) &&
      !any_of_all(group, !fits_dense(prepared->set.features.rows(), prepared->set.features.cols(),
                                     control)))
    prepared->set.features = prepared->set.features.to_dense();
}

}  // namespace

Dataset without_weightless_rows(const Dataset& data, std::vector<Index>* kept,
                                const RunControl& control) {
  if (std::none_of(data.weights().begin(), data.weights().end(), [](double w) { return w == 0; }))
    return data;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) kept->push_back(i);
  }
  // On several ranks, another one may have rows that count; prepare() looks at all.
  if (kept->empty() && group_of(control).size() == 1)
    throw DataError("every row has weight 0: nothing to learn from");
  if (!data.features().is_mapped()) return data.select(*kept);
  // What is mapped need not fit into memory.
  std::vector<double> weights;
  weights.reserve(kept->size());
  for (const Index row : *kept) weights.push_back(data.weight(row));
  return Dataset(copy_rows(data.features(), *kept, "a copy of the rows with weight", control),
                 data.labels().select(*kept), std::move(weights),
                 {data.feature_names().begin(), data.feature_names().end()});
}

double resolve_gamma(const Gamma& gamma, const Matrix& features, KernelType kernel) {
  return learn_gamma(gamma, features, whole_rows(features), kernel, alone());
}

Prepared prepare(const Dataset& given, const TrainOptions& options, bool uses_kernel,
                 const RunControl& control) {
  Prepared prepared;
  Group& group = group_of(control);
  const Dataset data = without_weightless_rows(given, &prepared.given_rows, control);
  if (sum_of_all(group, data.rows()) == 0) throw DataError("the data has no rows");
  if (data.cols() == 0) throw DataError("the data has no columns: there is nothing to learn from");
  require_finite(data.features());
  if (uses_kernel) require_column_buffers(data.features(), options, control);
  const RowStore store = RowStore::for_bytes(
      checked_product(data.rows(), kShareOfFacts * (sizeof(std::int32_t) + sizeof(double))),
      control);
  prepared.set.codes = RowVector<std::int32_t>(store);
  prepared.set.targets = RowVector<double>(store);
  prepared.set.cost = RowVector<double>(store);
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
  prepared.set.kernel = Kernel{options.kernel_or_default(), 1.0, options.coef0, options.degree};
  if (options.kernel_or_default() != KernelType::linear &&
      options.kernel_or_default() != KernelType::precomputed) {
    prepared.set.kernel.gamma =
        learn_gamma(options.gamma_or_default(), prepared.set.features,
                    whole_rows(prepared.set.features), options.kernel_or_default(), group);
  }
  if (options.feature_weights.empty() && options.metric_matrix.empty())
    settle_rows(options, control, &prepared);
  else
    use_metric(options.feature_weights, options.metric_matrix, options, control, &prepared);
  return prepared;
}

void use_metric(const std::vector<float>& weights, const std::vector<float>& matrix,
                const TrainOptions& options, const RunControl& control, Prepared* prepared) {
  prepared->scaling = with_metric(prepared->scaling, weights, matrix, prepared->unscaled.cols());
  prepared->set.features = prepared->scaling.apply(prepared->unscaled, control);
  settle_rows(options, control, prepared);
}

}  // namespace tamis

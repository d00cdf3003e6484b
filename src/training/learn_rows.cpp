#include "training/learn_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
#include "base/fixed_sum.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "data/gather_labels.hpp"
#include "kernels/distance_rounding.hpp"
#include "model/machine.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kBytesAtOnce = Index{64} << 20;
constexpr Index kMostBlockRows = Index{1} << 20;

// Beyond these, squares of coefficients overflow, and 1 / C is no float: the answers would be no
// numbers. A row whose C is out of range has no other meaning than one at the end of it.
constexpr double kLeastCost = 1e-30;
constexpr double kMostCost = 1e100;

std::span<const float> stored_values(const Matrix& features) {
  return features.is_sparse() ? features.sparse_values() : features.dense_values();
}

// The weight of each class in all.
std::vector<ExactSum> weights_of_classes(const Dataset& data, const Labels& classes) {
  std::vector<ExactSum> sums(usize(classes.size()));
  const Index step = rows_of_block(data.features());
  for (Index begin = 0; begin < data.rows(); begin += step) {
    std::vector<Index> rows(usize(std::min(step, data.rows() - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    const std::vector<std::int32_t> codes = codes_of_classes(data.labels().select(rows), classes);
    for (std::size_t i = 0; i < codes.size(); ++i) sums[usize(codes[i])].add(data.weight(rows[i]));
  }
  return sums;
}

}  // namespace

std::vector<std::int32_t> codes_of_classes(const Labels& labels, const Labels& classes) {
  std::vector<std::int32_t> codes = encode_labels(labels, classes);
  if (std::any_of(codes.begin(), codes.end(), [](std::int32_t code) { return code < 0; }))
    throw DataError("the labels changed while they were read; run again when they are complete");
  return codes;
}

RowPasses whole_rows(const Matrix& scaled) {
  return [scaled](const std::function<void(const Matrix&)>& use) { use(scaled); };
}

RowPasses scaled_blocks(const Matrix& features, const Scaling& scaling, const RunControl& control) {
  return [features, scaling, control](const std::function<void(const Matrix&)>& use) {
    const Index step = rows_of_block(features);
    for (Index begin = 0; begin < features.rows(); begin += step) {
      if (control.cancelled()) throw Cancelled();
      use(scaling.apply(rows_between(features, begin, std::min(begin + step, features.rows())),
                        quiet(control)));
    }
  };
}

Matrix rows_between(const Matrix& features, Index begin, Index end) {
  if (begin == 0 && end == features.rows()) return features;
  if (!features.is_sparse()) {
    return Matrix::dense_view(end - begin, features.cols(), features.dense_row(begin).data(),
                              std::make_shared<const Matrix>(features));
  }
  std::vector<Index> rows(usize(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return features.select(rows);
}

Index rows_of_block(const Matrix& features) {
  const Index row_bytes = std::max<Index>(1, features.cols() * static_cast<Index>(sizeof(float)));
  return std::clamp<Index>(kBytesAtOnce / row_bytes, 64, kMostBlockRows);
}

Labels learn_classes(const Labels& labels, const TrainOptions& options, Group& group) {
  if (largest_of_all(group, labels.kind()) == LabelKind::none)
    throw DataError("the data has no labels to learn");
  if (options.task == Task::regression) {
    if (labels.kind() == LabelKind::text)
      throw DataError("a regression needs numbers as labels, and these are words");
    for (Index i = 0; i < labels.size(); ++i) {
      if (!std::isfinite(labels.number(i)))
        throw DataError(fmt::format("the label of row {} is not finite", i + 1));
    }
    return {};
  }
  Labels classes =
      distinct_classes(labels_of_all(labels.empty() ? labels : distinct_classes(labels), group));
  if (classes.size() < 2) {
    throw DataError(
        fmt::format("every row has the label {}: two classes or more are needed", classes.name(0)));
  }
  return classes;
}

std::vector<double> class_factors(const Dataset& data, const TrainOptions& options,
                                  const Labels& classes, Group& group) {
  std::vector<double> factor(usize(std::max<Index>(1, classes.size())), 1.0);
  if (options.task != Task::classification) return factor;
  for (const auto& [label, weight] : options.class_weights) {
    const Index c = find_class(classes, label);
    if (c < 0)
      throw InvalidArgument(
          fmt::format("class-weight names class {}, which the data does not have", label));
    factor[usize(c)] *= weight;  // named twice: both count, as in LIBSVM
  }
  if (!options.balanced) return factor;
  std::vector<ExactSum> rows = weights_of_classes(data, classes);
  ExactSum all;
  for (ExactSum& of_class : rows) {
    of_class = sum_of_all(group, of_class);
    all.add(of_class);
  }
  for (std::size_t c = 0; c < factor.size(); ++c)
    factor[c] *= all.value() / (static_cast<double>(factor.size()) * rows[c].value());
  return factor;
}

double cost_of_row(const TrainOptions& options, double weight, double class_factor) {
  const double cost = options.cost_or_default() * weight * class_factor;
  // Not a number: the weights of all rows together overflowed.
  return cost < kMostCost ? std::max(cost, kLeastCost) : kMostCost;
}

double learn_gamma(const Gamma& gamma, const Matrix& features, const RowPasses& rows,
                   KernelType kernel, Group& group) {
  if (gamma.rule == Gamma::Rule::value) return gamma.value;
  const double cols = static_cast<double>(std::max<Index>(1, features.cols()));
  if (gamma.rule == Gamma::Rule::per_features) return 1 / cols;
  const Index count = sum_of_all(group, features.rows()) * features.cols();
  Index stored = 0;
  double largest = 0;
  rows([&](const Matrix& some) {
    stored += some.num_stored();
    for (const float v : stored_values(some))
      largest = std::max(largest, std::abs(static_cast<double>(v)));
  });
  stored = sum_of_all(group, stored);
  largest = largest_of_all(group, largest);
  const auto mean_of = [&](double most, const auto& term) {
    FixedSum sum(most, count);
    rows([&](const Matrix& some) {
      for (const float v : stored_values(some)) sum.add(term(static_cast<double>(v)));
    });
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

Scaling with_metric(const Scaling& scaling, const std::vector<float>& weights,
                    const std::vector<float>& matrix, Index cols) {
  Scaling result = scaling;
  if (!weights.empty()) {
    if (std::ssize(weights) != cols)
      throw InvalidArgument(fmt::format("{} for {}", counted(weights.size(), "feature weight"),
                                        counted(cols, "column")));
    result = result.with_weights(weights);
  }
  if (!matrix.empty()) {
    require_matrix_columns(cols);
    if (std::ssize(matrix) != cols * cols)
      throw InvalidArgument(fmt::format("a full metric of {} for {}",
                                        counted(matrix.size(), "number"), counted(cols, "column")));
    result = result.with_matrix(matrix);
  }
  return result;
}

void require_matrix_columns(Index cols) {
  if (cols <= Scaling::kMaxMatrixColumns) return;
  throw InvalidArgument(
      fmt::format("a full metric is for at most {}, and the data has {}: take a diagonal one",
                  counted(Scaling::kMaxMatrixColumns, "column"), cols));
}

void require_column_buffers(const Matrix& features, const TrainOptions& options,
                            const RunControl& control) {
  if (!features.is_sparse() || options.kernel_or_default() == KernelType::precomputed) return;
  require_column_memory("training", features.cols(), kPackedColumnBytes,
                        resolve_memory_budget(control.memory_bytes) / 4);
}

// Differences of dense rows are exact.
bool needs_differences(const Kernel& kernel, const RowPasses& rows, double largest_cost, double eps,
                       Group& group) {
  const bool is_l1 = kernel.type == KernelType::laplacian;
  if (kernel.type != KernelType::rbf && !is_l1) return false;
  Index count = 0;
  Index stored = 0;
  double largest = 0;
  rows([&](const Matrix& some) {
    if (!some.is_sparse()) return;
    count += some.rows();
    stored += some.num_stored();
    for (Index i = 0; i < some.rows(); ++i) {
      double norm = 0;
      for (const float v : some.sparse_row(i).values)
        norm += is_l1 ? std::abs(static_cast<double>(v))
                      : static_cast<double>(v) * static_cast<double>(v);
      largest = std::max(largest, norm);
    }
  });
  count = sum_of_all(group, count);
  if (count == 0) return false;
  const double values_per_row =
      static_cast<double>(sum_of_all(group, stored)) / static_cast<double>(count);
  const double rounding = sparse_distance_rounding(largest_of_all(group, largest), values_per_row);
  return shows_in_conditions(rounding, kernel, largest_of_all(group, largest_cost), eps);
}

bool fits_dense(Index rows, Index cols, const RunControl& control) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(cols) * sizeof(float);
  return 3 * bytes <
         static_cast<double>(resolve_memory_budget(control.memory_bytes) - resident_memory_bytes());
}

}  // namespace tamis

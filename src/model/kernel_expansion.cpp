#include "model/kernel_expansion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "model/decision_sums.hpp"
#include "model/model_parts.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// Eight sums side by side, so that the loop is not one long chain of additions.
double dot(const double* weights, std::span<const float> x) {
  std::array<double, 8> lanes{};
  std::size_t j = 0;
  for (; j + 8 <= x.size(); j += 8) {
    for (std::size_t k = 0; k < 8; ++k) lanes[k] += weights[j + k] * static_cast<double>(x[j + k]);
  }
  for (; j < x.size(); ++j) lanes[j % 8] += weights[j] * static_cast<double>(x[j]);
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

}  // namespace

const ExpansionParts* expansion_parts(const Model& model) {
  const auto* expansion = dynamic_cast<const KernelExpansion*>(shared_machine(model).get());
  return expansion == nullptr ? nullptr : &expansion->parts();
}

KernelExpansion::KernelExpansion(ExpansionParts parts) : parts_(std::move(parts)) {
  validate();
  find_runs();
  num_features_ = parts_.support_vectors.cols();
  if (kernel().type == KernelType::precomputed) find_serials();
  if (kernel().type == KernelType::linear) collapse_linear();
}

void KernelExpansion::validate() const {
  try {
    kernel().validate();
  } catch (const InvalidArgument& error) {
    throw DataError(error.what());
  }
  const Index l = num_support_vectors();
  Index coefficient_rows = num_machines();
  if (parts_.decision == Decision::one_vs_one) {
    const Index classes = static_cast<Index>(parts_.class_counts.size());
    Index total = 0;
    for (const Index count : parts_.class_counts) {
      if (count < 0) throw DataError("a class has a negative number of support vectors");
      total = checked_sum(total, count);
    }
    if (classes < 1 || total != l) {
      throw DataError(fmt::format("{}, but those of {} are {}", counted(l, "support vector"),
                                  counted(classes, "class"), total));
    }
    if (tamis::num_machines(parts_.decision, classes) != num_machines())
      throw DataError(fmt::format("{}, but {}", counted(classes, "class"),
                                  counted(num_machines(), "binary SVM")));
    coefficient_rows = classes - 1;
  } else if (!parts_.class_counts.empty() || num_machines() < 1 ||
             (parts_.decision == Decision::single && num_machines() != 1)) {
    throw DataError(fmt::format("a decision {} cannot have {}", decision_name(parts_.decision),
                                counted(num_machines(), "binary SVM")));
  }
  if (checked_product(coefficient_rows, l) != static_cast<Index>(parts_.coefficients.size())) {
    throw DataError(fmt::format("{} for {}: {} expected",
                                counted(parts_.coefficients.size(), "coefficient"),
                                counted(l, "support vector"), coefficient_rows * l));
  }
  if (!all_finite(parts_.coefficients)) throw DataError("a coefficient is not finite");
  if (!all_finite(parts_.offsets)) throw DataError("an intercept is not finite");
  require_finite(support_vectors());
}

void KernelExpansion::find_runs() {
  const Index l = num_support_vectors();
  if (parts_.decision != Decision::one_vs_one) {
    for (Index m = 0; m < num_machines(); ++m) terms_.push_back({m, m * l});
    runs_.push_back({0, l, 0, terms_.size()});
    return;
  }
  const Index classes = static_cast<Index>(parts_.class_counts.size());
  const auto pair = [classes](Index i, Index j) {
    return i * (2 * classes - i - 1) / 2 + j - i - 1;
  };
  Index begin = 0;
  for (Index c = 0; c < classes; ++c) {
    const Index end = begin + parts_.class_counts[usize(c)];
    const std::size_t first = terms_.size();
    for (Index i = 0; i < c; ++i) terms_.push_back({pair(i, c), i * l + begin});
    for (Index j = c + 1; j < classes; ++j) terms_.push_back({pair(c, j), (j - 1) * l + begin});
    runs_.push_back({begin, end, first, terms_.size()});
    begin = end;
  }
}

void KernelExpansion::find_serials() {
  const Index l = num_support_vectors();
  if (l > 0 && num_features_ < 1)
    throw DataError("precomputed kernel: the support vectors need their number in column 0");
  num_features_ = 1;
  for (Index s = 0; s < l; ++s) {
    const float number = support_vectors().at(s, 0);
    // 2^24: up to there every float is a whole number it stands for.
    if (!(number >= 1 && number <= 0x1p24F) || number != std::floor(number)) {
      throw DataError(fmt::format(
          "precomputed kernel: support vector {} has the number {}, not 1, 2, ..", s + 1, number));
    }
    serials_.push_back(static_cast<Index>(number));
    num_features_ = std::max(num_features_, serials_.back() + 1);
  }
}

// w = sum of coefficient * support vector, so that a row costs one product a machine instead of one
// a support vector. Not worth it for many machines in many columns.
void KernelExpansion::collapse_linear() {
  const Index machines = num_machines();
  const Index size = checked_product(num_features_, machines);
  if (size > std::max(Index{4} << 20, support_vectors().num_stored())) return;
  weights_.assign(usize(size), 0.0);
  const auto add_vector = [&](Index machine, Index s, double coefficient) {
    if (coefficient == 0) return;
    double* w = weights_.data() + machine;
    if (support_vectors().is_sparse()) {
      const SparseRow row = support_vectors().sparse_row(s);
      for (std::size_t k = 0; k < row.columns.size(); ++k)
        w[row.columns[k] * machines] += coefficient * static_cast<double>(row.values[k]);
    } else {
      const auto row = support_vectors().dense_row(s);
      for (Index j = 0; j < num_features_; ++j)
        w[j * machines] += coefficient * static_cast<double>(row[usize(j)]);
    }
  };
  parallel_each(machines, [&](Index m) {
    for (const Segment& segment : segments(m)) {
      for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
        add_vector(m, s,
                   parts_.coefficients[usize(segment.coefficient_begin + s - segment.sv_begin)]);
      }
    }
  });
  if (!all_finite(weights_)) weights_.clear();
}

std::vector<Segment> KernelExpansion::segments(Index machine) const {
  const Index l = num_support_vectors();
  if (parts_.decision != Decision::one_vs_one) return {{0, l, machine * l}};
  const Index classes = static_cast<Index>(parts_.class_counts.size());
  const auto [i, j] = class_pair(machine, classes);
  const Run& first = runs_[usize(i)];
  const Run& second = runs_[usize(j)];
  return {{first.begin, first.end, (j - 1) * l + first.begin},
          {second.begin, second.end, i * l + second.begin}};
}

std::string KernelExpansion::describe() const {
  std::string text = fmt::format("{}; {}", tamis::describe(kernel()),
                                 counted(num_support_vectors(), "support vector"));
  if (parts_.decision != Decision::single)
    text += fmt::format("; {} {}", counted(num_machines(), "binary SVM"),
                        decision_name(parts_.decision));
  return text;
}

Matrix KernelExpansion::fit_columns(const Matrix& features) const {
  const bool is_precomputed = kernel().type == KernelType::precomputed;
  if (features.cols() >= num_features_ && (is_precomputed || parts_.any_columns)) return features;
  if (is_precomputed) {
    throw DataError(
        fmt::format("precomputed kernel: rows of {}, but the support vectors number up to {}",
                    counted(features.cols(), "column"), num_features_ - 1));
  }
  return fit_columns_of(support_vectors(), features);
}

// The support vectors with `cols` columns, sparse if most of these would be zeros.
Matrix KernelExpansion::widened_vectors(Index cols) const {
  const Matrix& vectors = support_vectors();
  return (cols > 2 * num_features_ + 64 ? vectors.to_sparse() : vectors).with_cols(cols);
}

DecisionSums KernelExpansion::sums(const Matrix& features, const RunControl& control) const {
  const bool is_precomputed = kernel().type == KernelType::precomputed;
  TAMIS_CHECK(is_precomputed || parts_.any_columns ? features.cols() >= num_features_
                                                   : features.cols() == num_features_);
  DecisionSums result{parts_.decision,
                      kernel().type,
                      parts_.offsets,
                      num_support_vectors(),
                      support_vectors().is_sparse(),
                      {}};
  if (is_precomputed) {
    result.add = [this](const auto& block, auto& meter) { sum_precomputed(block, meter); };
  } else if (is_collapsed()) {
    result.add = [this](const auto& block, auto& meter) { sum_linear(block, meter); };
  } else {
    require_packing_memory(support_vectors(), features, control);
    result.add = [this, vectors = widened_vectors(features.cols())](
                     const auto& block, auto& meter) { sum_kernel(vectors, block, meter); };
  }
  return result;
}

void KernelExpansion::sum_kernel(const Matrix& vectors, const DecisionBlock& block,
                                 ProgressMeter& meter) const {
  if (num_support_vectors() == 0) return;
  KernelTiles tiles(kernel(), vectors, block);
  std::array<Index, KernelTiles::kMostStrip> strip{};
  for (const Run& run : runs_) {
    for (Index s = run.begin; s < run.end; s += tiles.strip()) {
      const Index count = std::min(tiles.strip(), run.end - s);
      std::iota(strip.begin(), strip.begin() + count, s);
      const auto add = [&](const float* tile, Index c, Index width) {
        for (std::size_t t = run.first_term; t < run.last_term; ++t) {
          const double* coefficients =
              parts_.coefficients.data() + terms_[t].coefficient_begin + s - run.begin;
          accumulate_rows(tile, tiles.stride(), {coefficients, usize(count)}, width,
                          block.sums + terms_[t].machine * block.stride + c);
        }
      };
      tiles.visit({strip.data(), usize(count)}, meter, add);
    }
  }
}

void KernelExpansion::sum_linear(const DecisionBlock& block, ProgressMeter& meter) const {
  const Index machines = num_machines();
  const Index poll_rows =
      std::clamp<Index>(kPollWork / std::max<Index>(1, num_features_ * machines), 1, 64);
  std::vector<double> values(usize(machines));
  for (Index c = 0; c < block.count; ++c) {
    const Index i = block.begin + c;
    std::fill(values.begin(), values.end(), 0.0);
    const auto add = [&](Index column, float value) {
      const double* w = weights_.data() + column * machines;
      for (Index m = 0; m < machines; ++m) values[usize(m)] += w[m] * static_cast<double>(value);
    };
    if (block.features.is_sparse()) {
      const SparseRow row = block.features.sparse_row(i);
      for (std::size_t k = 0; k < row.columns.size() && row.columns[k] < num_features_; ++k)
        add(row.columns[k], row.values[k]);
    } else {
      const auto row = block.features.dense_row(i).first(usize(num_features_));
      if (machines == 1) values[0] = dot(weights_.data(), row);
      for (Index j = 0; j < num_features_ && machines > 1; ++j) add(j, row[usize(j)]);
    }
    for (Index m = 0; m < machines; ++m) block.sums[m * block.stride + c] = values[usize(m)];
    if (c % poll_rows == 0)
      meter.add(std::min(poll_rows, block.count - c) * std::max<Index>(1, num_support_vectors()));
  }
}

void KernelExpansion::sum_precomputed(const DecisionBlock& block, ProgressMeter& meter) const {
  std::vector<float> values(serials_.size());
  for (Index c = 0; c < block.count; ++c) {
    for (std::size_t s = 0; s < serials_.size(); ++s)
      values[s] = block.features.at(block.begin + c, serials_[s]);
    for (const Run& run : runs_) {
      for (std::size_t t = run.first_term; t < run.last_term; ++t) {
        double& sum = block.sums[terms_[t].machine * block.stride + c];
        const double* coefficients = parts_.coefficients.data() + terms_[t].coefficient_begin;
        for (Index s = run.begin; s < run.end; ++s)
          sum += coefficients[s - run.begin] * static_cast<double>(values[usize(s)]);
      }
    }
    meter.add(std::max<Index>(1, num_support_vectors()));
  }
}

void KernelExpansion::decision_values(const Matrix& features, std::span<double> values,
                                      const RunControl& control) const {
  sums(features, control).decision_values(features, values, control);
}

void KernelExpansion::classify(const Matrix& features, std::span<std::int32_t> classes,
                               const RunControl& control) const {
  sums(features, control).classify(features, classes, control);
}

}  // namespace tamis

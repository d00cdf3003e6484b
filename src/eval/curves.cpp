#include "tamis/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "eval/score_curves.hpp"
#include "model/decision.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

void require_rows(const Dataset& data, const DecisionValues& values) {
  if (data.labels().empty()) throw DataError("the data has no labels to compare with");
  if (values.rows != data.rows())
    throw InvalidArgument(fmt::format("decision values of {} for data of {}",
                                      counted(values.rows, "row"), data.rows()));
}

// One SVM per pair of classes: votes, and a part of one for the sum of the values.
double pair_score(std::span<const double> values, Index of, Index classes) {
  double votes = 0;
  double sum = 0;
  for (Index other = 0; other < classes; ++other) {
    if (other == of) continue;
    const auto [i, j] = std::minmax(of, other);
    const double value = values[usize(i * classes - i * (i + 1) / 2 + j - i - 1)];
    if ((value > 0) == (i == of)) votes += 1;
    sum += i == of ? value : -value;
  }
  return votes + sum / (3 * (std::abs(sum) + 1));
}

double score(Decision decision, std::span<const double> values, Index of, Index classes) {
  if (decision == Decision::single) return of == 0 ? values[0] : -values[0];
  if (decision == Decision::one_vs_rest) return values[usize(of)];
  return pair_score(values, of, classes);
}

// The classes with the most rows, ascending.
std::vector<Index> shown_classes(std::span<const std::int32_t> truth, Index classes) {
  constexpr std::size_t kMost = 30;
  if (classes < 2) return {};
  if (classes == 2) return {0};
  std::vector<Index> rows(usize(classes), 0);
  for (const std::int32_t code : truth) {
    if (code >= 0) ++rows[usize(code)];
  }
  std::vector<Index> order(usize(classes));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return rows[usize(a)] > rows[usize(b)]; });
  order.resize(std::min(kMost, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<ClassCurves> class_curves(const Model& model, const Dataset& data,
                                      const DecisionValues& values, const RunControl& control) {
  if (model.task() == Task::regression) return {};
  require_rows(data, values);
  const std::vector<std::int32_t> truth = encode_labels(data.labels(), model.classes());
  const Index classes = model.classes().size();
  const std::vector<Index> shown = shown_classes(truth, classes);
  std::vector<ClassCurves> result(shown.size());
  if (shown.empty()) return result;
  const Decision decision = machine_of(model).decision_shape().used();
  Probabilities given;
  if (model.has_probabilities()) given = probabilities(model, values, control);
  require_memory("the curves of a class", checked_product(values.rows, sizeof(ScoredRow)),
                 memory_left(control.memory_bytes));
  // One class after the other: rows are many, and sorting them takes memory.
  std::vector<ScoredRow> rows(usize(values.rows));
  for (std::size_t s = 0; s < shown.size(); ++s) {
    if (control.cancelled()) throw Cancelled();
    const Index of = shown[s];
    ClassCurves& curves = result[s];
    curves.label = model.classes().name(of);
    if (given.rows > 0) {
      for (Index i = 0; i < values.rows; ++i)
        rows[usize(i)] = {given.at(i, of), truth[usize(i)] == of};
      fill_calibration(rows, &curves);
    }
    for (Index i = 0; i < values.rows; ++i) {
      const auto own = std::span(values.values).subspan(usize(i * values.cols), usize(values.cols));
      rows[usize(i)] = {score(decision, own, of, classes), truth[usize(i)] == of};
    }
    fill_score_curves(rows, &curves);
  }
  return result;
}

Residuals residuals(const Model& model, const Dataset& data, const DecisionValues& values) {
  constexpr Index kMostPoints = 1000;
  constexpr std::size_t kBins = 30;
  Residuals result;
  if (model.task() != Task::regression) return result;
  require_rows(data, values);
  if (data.labels().kind() != LabelKind::numeric)
    throw DataError("a regression needs numbers as labels, and these are words");
  const auto residual = [&](Index i) { return values.at(i, 0) - data.labels().number(i); };
  result.low = result.high = residual(0);
  for (Index i = 1; i < values.rows; ++i) {
    result.low = std::min(result.low, residual(i));
    result.high = std::max(result.high, residual(i));
  }
  result.histogram.assign(kBins, 0);
  const double width = (result.high - result.low) / static_cast<double>(kBins);
  for (Index i = 0; i < values.rows; ++i) {
    const double place = width > 0 ? (residual(i) - result.low) / width : 0;
    // The largest residual, and a place that is no number because the range overflows.
    const bool is_last = !(place < static_cast<double>(kBins));
    ++result.histogram[is_last ? kBins - 1 : static_cast<std::size_t>(place)];
  }
  const Index points = std::min(kMostPoints, values.rows);
  for (Index p = 0; p < points; ++p) {
    const Index i = p * values.rows / points;
    result.sample.push_back({data.labels().number(i), values.at(i, 0)});
  }
  return result;
}

ErrorInterval error_interval(Index errors, Index rows) {
  if (rows <= 0) return {};
  constexpr double kDeviations = 1.959963984540054;  // 97.5 % of a normal distribution
  const auto n = static_cast<double>(rows);
  const double rate = static_cast<double>(errors) / n;
  const double z2 = kDeviations * kDeviations;
  const double middle = (rate + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kDeviations / (1 + z2 / n) * std::sqrt(rate * (1 - rate) / n + z2 / (4 * n * n));
  // Exactly 0 and 1 at the ends, where rounding would miss them.
  return {errors == 0 ? 0 : std::max(0.0, middle - half),
          errors == rows ? 1 : std::min(1.0, middle + half)};
}

}  // namespace tamis

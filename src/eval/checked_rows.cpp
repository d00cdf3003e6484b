#include "eval/checked_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
#include "base/group.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

Dataset without_weightless_rows(const Dataset& data, std::vector<Index>* kept) {
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) kept->push_back(i);
  }
  return static_cast<Index>(kept->size()) == data.rows() ? data : data.select(*kept);
}

// Numbers are compared by value: "+1" and "1.0" name class 1.
bool is_label(const Labels& classes, Index c, std::string_view text) {
  if (classes.name(c) == text) return true;
  if (classes.kind() != LabelKind::numeric) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last && value == classes.number(c);
}

std::vector<double> class_factors(const Labels& classes, const Dataset& data,
                                  std::span<const std::int32_t> codes, const TrainOptions& options,
                                  Group& group) {
  std::vector<double> factors(usize(classes.size()), 1.0);
  for (const auto& [label, weight] : options.class_weights) {
    bool known = false;
    for (Index c = 0; c < classes.size(); ++c) {
      if (!is_label(classes, c, label)) continue;
      factors[usize(c)] *= weight;
      known = true;
    }
    if (!known)
      throw InvalidArgument(
          fmt::format("class-weight names class {}, which the model does not have", label));
  }
  if (!options.balanced) return factors;
  std::vector<ExactSum> sums(factors.size());
  for (Index i = 0; i < data.rows(); ++i) sums[usize(codes[usize(i)])].add(data.weight(i));
  std::vector<double> of_class;
  of_class.reserve(sums.size());
  for (const ExactSum& sum : sums) of_class.push_back(sum_of_all(group, sum).value());
  const double all = std::accumulate(of_class.begin(), of_class.end(), 0.0);
  for (std::size_t c = 0; c < factors.size(); ++c)
    factors[c] *= all / (static_cast<double>(factors.size()) * of_class[c]);
  return factors;
}

}  // namespace

Matrix scaled_rows(const Model& model, const Matrix& features, const RunControl& control) {
  const Matrix fitted = machine_rows(model, features, control);
  return model.scaling().is_identity() ? fitted : model.scaling().apply(fitted, control);
}

CheckedRows checked_rows(const Model& model, const Dataset& given, const TrainOptions& options,
                         const RunControl& control) {
  CheckedRows rows;
  Group& group = group_of(control);
  const Dataset data = without_weightless_rows(given, &rows.original);
  if (sum_of_all(group, data.rows()) == 0) throw DataError("the data has no rows");
  if (largest_of_all(group, data.labels().kind()) == LabelKind::none)
    throw DataError("the data has no labels");
  const Index before = sum_of_earlier(group, given.rows());
  for (Index& row : rows.original) row += before;
  rows.features = scaled_rows(model, rows_for(model, data, control).features(), control);
  std::vector<double> factors{1.0};
  if (model.task() == Task::regression) {
    if (data.labels().kind() == LabelKind::text)
      throw DataError("a regression needs numbers as labels, and these are words");
    for (Index i = 0; i < data.rows(); ++i) rows.numbers.push_back(data.labels().number(i));
  } else {
    if (data.rows() > 0) rows.codes = encode_labels(data.labels(), model.classes());
    const auto unknown = std::find(rows.codes.begin(), rows.codes.end(), -1);
    if (unknown != rows.codes.end()) {
      const Index i = unknown - rows.codes.begin();
      throw DataError(fmt::format("row {} has the label {}, which the model does not know",
                                  rows.original[usize(i)] + 1, data.labels().name(i)));
    }
    factors = class_factors(model.classes(), data, rows.codes, options, group);
  }
  for (Index i = 0; i < data.rows(); ++i) {
    const double of_class = rows.codes.empty() ? 1.0 : factors[usize(rows.codes[usize(i)])];
    rows.cost.push_back(options.cost_or_default() * data.weight(i) * of_class);
  }
  return rows;
}

}  // namespace tamis

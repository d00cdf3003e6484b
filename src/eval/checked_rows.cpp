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

// Codes lie in a scratch file unless this many times their size is left.
constexpr Index kRoomForCodes = 4;
constexpr Index kLabelsAtOnce = Index{1} << 16;

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
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) sums[usize(codes[usize(i)])].add(data.weight(i));
  }
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

CheckedRows::CheckedRows(const Model& model, const Dataset& data, const TrainOptions& options,
                         const RunControl& control)
    : data_(data), cost_(options.cost_or_default()) {
  Group& group = group_of(control);
  Index counting = 0;
  for (Index i = 0; i < rows(); ++i) counting += counts(i) ? 1 : 0;
  if (sum_of_all(group, counting) == 0) throw DataError("the data has no rows");
  if (largest_of_all(group, data.labels().kind()) == LabelKind::none)
    throw DataError("the data has no labels");
  first_ = sum_of_earlier(group, rows());
  features_ = scaled_rows(model, rows_for(model, data, control).features(), control);
  if (model.task() == Task::regression) {
    if (data.labels().kind() == LabelKind::text)
      throw DataError("a regression needs numbers as labels, and these are words");
    return;
  }
  codes_ = RowVector<std::int32_t>(
      RowStore::for_bytes(checked_product(rows(), kRoomForCodes * sizeof(std::int32_t)), control));
  codes_.reserve(usize(rows()));
  for (Index begin = 0; begin < rows(); begin += kLabelsAtOnce) {
    const Labels labels = data.labels().slice(begin, std::min(begin + kLabelsAtOnce, rows()));
    for (const std::int32_t code : encode_labels(labels, model.classes())) {
      const Index i = std::ssize(codes_);
      if (code < 0 && counts(i)) {
        throw DataError(fmt::format("row {} has the label {}, which the model does not know",
                                    first_ + i + 1, data.labels().name(i)));
      }
      codes_.push_back(code);
    }
  }
  factors_ = class_factors(model.classes(), data, codes_, options, group);
}

RowFact CheckedRows::fact(Index i) const {
  RowFact fact{first_ + i, 0, 0, cost_ * data_.weight(i)};
  if (codes_.empty()) {
    fact.number = data_.labels().number(i);
  } else {
    fact.code = codes_[usize(i)];
    fact.cost *= factors_[usize(fact.code)];
  }
  return fact;
}

}  // namespace tamis

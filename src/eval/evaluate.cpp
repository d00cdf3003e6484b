#include "tamis/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "data/gather_labels.hpp"
#include "model/model_parts.hpp"
#include "model/precise_values.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

void score_regression(const Labels& predicted, const Labels& truth, Evaluation* result) {
  if (truth.kind() != LabelKind::numeric)
    throw DataError("a regression needs numbers as labels, and these are words");
  const double n = static_cast<double>(truth.size());
  double mean = 0;
  for (Index i = 0; i < truth.size(); ++i) mean += truth.number(i) / n;
  double variance = 0;
  for (Index i = 0; i < truth.size(); ++i) {
    const double error = predicted.number(i) - truth.number(i);
    result->mse += error * error / n;
    result->mae += std::abs(error) / n;
    variance += (truth.number(i) - mean) * (truth.number(i) - mean) / n;
  }
  result->r2 = variance > 0 ? 1 - result->mse / variance : 0;
}

// The model's classes, then those only the data has (which are always errors).
std::vector<std::string> class_names(const Labels& model_classes, const Labels& truth) {
  std::vector<std::string> names;
  for (Index c = 0; c < model_classes.size(); ++c) names.push_back(model_classes.name(c));
  const Labels in_data = distinct_classes(truth);
  for (Index c = 0; c < in_data.size(); ++c) {
    if (std::find(names.begin(), names.end(), in_data.name(c)) == names.end())
      names.push_back(in_data.name(c));
  }
  return names;
}

// Position of each label in `names`, which has them all.
std::vector<Index> positions(const Labels& labels, const std::vector<std::string>& names) {
  const Labels distinct = distinct_classes(labels);
  std::vector<Index> position_of;
  for (Index c = 0; c < distinct.size(); ++c) {
    position_of.push_back(std::find(names.begin(), names.end(), distinct.name(c)) - names.begin());
  }
  std::vector<Index> result;
  for (const std::int32_t code : encode_labels(labels, distinct))
    result.push_back(position_of[usize(code)]);
  return result;
}

void score_classes(const Labels& model_classes, const Labels& predicted, const Labels& truth,
                   Evaluation* result) {
  const std::vector<std::string> names = class_names(model_classes, truth);
  const Index k = static_cast<Index>(names.size());
  const std::vector<Index> true_codes = positions(truth, names);
  const std::vector<Index> predicted_codes = positions(predicted, names);
  result->confusion.assign(usize(k * k), 0);
  for (std::size_t i = 0; i < true_codes.size(); ++i) {
    ++result->confusion[usize(true_codes[i] * k + predicted_codes[i])];
    if (true_codes[i] != predicted_codes[i]) ++result->errors;
  }
  for (Index c = 0; c < k; ++c) {
    ClassScore score;
    score.label = names[usize(c)];
    score.correct = result->confusion[usize(c * k + c)];
    for (Index o = 0; o < k; ++o) {
      score.rows += result->confusion[usize(c * k + o)];
      score.predicted += result->confusion[usize(o * k + c)];
    }
    score.precision = score.predicted > 0 ? static_cast<double>(score.correct) /
                                                static_cast<double>(score.predicted)
                                          : 0;
    score.recall =
        score.rows > 0 ? static_cast<double>(score.correct) / static_cast<double>(score.rows) : 0;
    result->classes.push_back(score);
  }
  result->error_rate = static_cast<double>(result->errors) / static_cast<double>(result->rows);
  result->accuracy = 1 - result->error_rate;
}

// Rows weighted alike.
void score_probabilities(const Probabilities& given, std::span<const std::int32_t> truth,
                         Evaluation* result) {
  constexpr double kLeast = 1e-15;
  const double n = static_cast<double>(given.rows);
  const Index columns = given.cols == 2 ? 1 : given.cols;
  result->has_probabilities = true;
  for (Index i = 0; i < given.rows; ++i) {
    const Index code = truth[usize(i)];
    result->log_loss -= std::log(code < 0 ? kLeast : std::max(kLeast, given.at(i, code))) / n;
    for (Index c = 0; c < columns; ++c) {
      const double error = given.at(i, c) - (c == code ? 1 : 0);
      result->brier += error * error / n;
    }
  }
}

DecisionValues values_of_all(const DecisionValues& mine, Group& group) {
  DecisionValues all = mine;
  all.rows = sum_of_all(group, mine.rows);
  all.values = gather_all(group, mine.values);
  return all;
}

void require_labels(const Dataset& data, Group& group) {
  if (largest_of_all(group, data.labels().kind()) == LabelKind::none)
    throw DataError("the data has no labels to evaluate against");
}

Evaluation score_labels(const Model& model, const Dataset& data, const Labels& predicted) {
  Evaluation result;
  result.task = model.task();
  result.rows = data.rows();
  if (model.task() == Task::regression)
    score_regression(predicted, data.labels(), &result);
  else
    score_classes(model.classes(), predicted, data.labels(), &result);
  return result;
}

void require_two_classes(const Model& model) {
  if (model.task() == Task::regression || model.classes().size() != 2) {
    throw InvalidArgument(
        "indecision is defined for two classes, and this model is not a classifier of two");
  }
}

void require_indecision(const Model& model, std::span<const double> eps) {
  require_two_classes(model);
  for (const double limit : eps) {
    if (!(std::isfinite(limit) && limit > 0)) {
      throw InvalidArgument(
          fmt::format("indecision is asked for eps = {}: it must be greater than 0", limit));
    }
  }
}

double norm_of(const KernelExpansion& expansion, const RunControl& control) {
  std::vector<double> values(usize(expansion.num_support_vectors()));
  expansion_values(expansion, expansion.support_vectors(), false, values, control);
  return std::sqrt(squared_norm(expansion, coefficients_of(expansion, 0), 0, values));
}

std::string no_norm_of(const KernelExpansion& expansion) {
  if (expansion.kernel().type == KernelType::precomputed)
    return "the model does not hold the precomputed kernel values between its support vectors";
  if (expansion.kernel().type == KernelType::sigmoid)
    return "a sigmoid kernel need not be an inner product in any feature space";
  return expansion.num_machines() == 1 ? "" : "the model has several weight vectors";
}

}  // namespace

Evaluation evaluate(const Model& model, const Dataset& data, const RunControl& control) {
  require_labels(data, group_of(control));
  const Matrix rows = rows_for(model, data).features();
  if (model.has_probabilities() || group_of(control).size() > 1)
    return evaluate(model, data, decision_values(model, rows, control), control);
  return score_labels(model, data, predict(model, rows, control));
}

Evaluation evaluate(const Model& model, const Dataset& mine, const DecisionValues& own_values,
                    const RunControl& control) {
  Group& group = group_of(control);
  require_labels(mine, group);
  if (own_values.rows != mine.rows())
    throw InvalidArgument(fmt::format("decision values of {} for data of {}",
                                      counted(own_values.rows, "row"), mine.rows()));
  const DecisionValues values = values_of_all(own_values, group);
  const Dataset data = group.size() == 1 ? mine
                                         : Dataset(Matrix::dense(values.rows, 0, {}),
                                                   labels_of_all(mine.labels(), group));
  Evaluation result = score_labels(model, data, predict(model, values, control));
  if (model.has_probabilities()) {
    score_probabilities(probabilities(model, values, control),
                        encode_labels(data.labels(), model.classes()), &result);
  }
  return result;
}

std::vector<double> indecision(const Model& model, const Matrix& features,
                               std::span<const double> eps, const RunControl& control) {
  require_indecision(model, eps);
  return indecision(model, decision_values(model, features, control), eps);
}

std::vector<double> indecision(const Model& model, const DecisionValues& given,
                               std::span<const double> eps) {
  require_indecision(model, eps);
  std::vector<double> shares;
  for (const double limit : eps) {
    const auto count = std::count_if(given.values.begin(), given.values.end(),
                                     [&](double value) { return std::abs(value) < limit; });
    shares.push_back(static_cast<double>(count) / static_cast<double>(given.rows));
  }
  return shares;
}

DecisionNorm decision_norm(const Model& model, const RunControl& control) {
  require_two_classes(model);
  const Machine& machine = machine_of(model);
  DecisionNorm norm;
  if (const auto* expansion = dynamic_cast<const KernelExpansion*>(&machine)) {
    norm.why_none = no_norm_of(*expansion);
    if (!norm.why_none.empty()) return norm;
    norm.value = with_threads(control.threads, [&] { return norm_of(*expansion, control); });
  } else if (const LinearParts* linear = linear_parts(model);
             linear && linear->offsets.size() == 1) {
    norm.value = std::sqrt(std::inner_product(linear->weights.begin(), linear->weights.end(),
                                              linear->weights.begin(), 0.0));
  } else {
    norm.why_none = fmt::format("a model of kind {} has no single weight vector", machine.kind());
  }
  if (norm.value == 0.0) return {std::nullopt, "the decision value is the same for every row"};
  return norm;
}

}  // namespace tamis

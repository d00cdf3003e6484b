#include "tamis/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/exact_sum.hpp"
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
  for (const std::int32_t code : encode_labels(labels, distinct)) {
    // A mapped file may be another one by now.
    if (code < 0 || position_of[usize(code)] == std::ssize(names))
      throw DataError("the labels changed while they were read; run again when they are complete");
    result.push_back(position_of[usize(code)]);
  }
  return result;
}

// Adds up block after block of this rank's rows; the sums are those of all ranks, whatever the
// blocks and ranks are.
class Scores {
 public:
  /// `truth` are the labels of this rank's rows.
  Scores(const Model& model, const Labels& truth, Group& group)
      : model_(model), truth_(truth), group_(group) {
    result_.task = model.task();
    result_.rows = sum_of_all(group, truth.size());
    if (model.task() == Task::regression) {
      if (largest_of_all(group, truth.kind()) != LabelKind::numeric)
        throw DataError("a regression needs numbers as labels, and these are words");
      ExactSum targets;
      for (Index i = 0; i < truth.size(); ++i) targets.add(truth.number(i));
      mean_ = mean_of(targets);
      return;
    }
    names_ = class_names(model.classes(), labels_of_all(distinct_classes(truth), group));
    result_.confusion.assign(names_.size() * names_.size(), 0);
  }

  /// Rows from `begin` on, as many as there are predictions.
  void add(Index begin, const Labels& predicted) {
    const Labels truth = truth_.slice(begin, begin + predicted.size());
    if (model_.task() == Task::regression)
      add_numbers(truth, predicted);
    else
      add_classes(truth, predicted);
  }

  // Rows weighted alike.
  void add(Index begin, const Probabilities& given) {
    constexpr double kLeast = 1e-15;
    const auto truth = encode_labels(truth_.slice(begin, begin + given.rows), model_.classes());
    const Index columns = given.cols == 2 ? 1 : given.cols;
    result_.has_probabilities = true;
    for (Index i = 0; i < given.rows; ++i) {
      const Index code = truth[usize(i)];
      log_loss_.add(-std::log(code < 0 ? kLeast : std::max(kLeast, given.at(i, code))));
      for (Index c = 0; c < columns; ++c) {
        const double error = given.at(i, c) - (c == code ? 1 : 0);
        brier_.add(error * error);
      }
    }
  }

  Evaluation finish() {
    if (model_.task() == Task::regression) {
      result_.mse = mean_of(squares_);
      result_.mae = mean_of(errors_);
      const double variance = mean_of(variance_);
      result_.r2 = variance > 0 ? 1 - result_.mse / variance : 0;
    } else {
      finish_classes();
    }
    if (any_of_all(group_, result_.has_probabilities)) {
      result_.has_probabilities = true;
      result_.log_loss = mean_of(log_loss_);
      result_.brier = mean_of(brier_);
    }
    return std::move(result_);
  }

 private:
  double rows() const { return static_cast<double>(result_.rows); }
  double mean_of(const ExactSum& mine) const { return sum_of_all(group_, mine).value() / rows(); }

  void add_numbers(const Labels& truth, const Labels& predicted) {
    for (Index i = 0; i < truth.size(); ++i) {
      const double error = predicted.number(i) - truth.number(i);
      squares_.add(error * error);
      errors_.add(std::abs(error));
      variance_.add((truth.number(i) - mean_) * (truth.number(i) - mean_));
    }
  }

  void add_classes(const Labels& truth, const Labels& predicted) {
    const Index k = static_cast<Index>(names_.size());
    const std::vector<Index> true_codes = positions(truth, names_);
    const std::vector<Index> predicted_codes = positions(predicted, names_);
    for (std::size_t i = 0; i < true_codes.size(); ++i) {
      ++result_.confusion[usize(true_codes[i] * k + predicted_codes[i])];
      if (true_codes[i] != predicted_codes[i]) ++result_.errors;
    }
  }

  void finish_classes() {
    const Index k = static_cast<Index>(names_.size());
    result_.errors = sum_of_all(group_, result_.errors);
    const std::vector<Index> own =
        std::exchange(result_.confusion, std::vector<Index>(result_.confusion.size(), 0));
    for (const std::vector<Index>& part : gather_lists(group_, own)) {
      for (std::size_t c = 0; c < part.size(); ++c) result_.confusion[c] += part[c];
    }
    for (Index c = 0; c < k; ++c) {
      ClassScore score;
      score.label = names_[usize(c)];
      score.correct = result_.confusion[usize(c * k + c)];
      for (Index o = 0; o < k; ++o) {
        score.rows += result_.confusion[usize(c * k + o)];
        score.predicted += result_.confusion[usize(o * k + c)];
      }
      score.precision = score.predicted > 0 ? static_cast<double>(score.correct) /
                                                  static_cast<double>(score.predicted)
                                            : 0;
      score.recall =
          score.rows > 0 ? static_cast<double>(score.correct) / static_cast<double>(score.rows) : 0;
      result_.classes.push_back(score);
    }
    result_.error_rate = static_cast<double>(result_.errors) / rows();
    result_.accuracy = 1 - result_.error_rate;
  }

  const Model& model_;
  const Labels& truth_;
  std::vector<std::string> names_;
  Group& group_;
  double mean_ = 0;  // of the targets
  ExactSum variance_;
  ExactSum squares_;
  ExactSum errors_;
  ExactSum log_loss_;
  ExactSum brier_;
  Evaluation result_;
};

void require_labels(const Dataset& data, Group& group) {
  if (largest_of_all(group, data.labels().kind()) == LabelKind::none)
    throw DataError("the data has no labels to evaluate against");
}

// Rows whose predictions are held at a time.
constexpr Index kBlockRows = Index{1} << 20;

RunControl part_of(const RunControl& control, double done, double share) {
  RunControl part = control;
  if (!control.on_progress) return part;
  part.on_progress = [&control, done, share](Progress progress) {
    progress.done_fraction = done + share * std::max(0.0, progress.done_fraction);
    progress.left_seconds = -1;
    control.on_progress(progress);
  };
  return part;
}

Evaluation evaluate_blocks(const Model& model, const Dataset& data, const RunControl& control) {
  Scores scores(model, data.labels(), group_of(control));
  const auto all = static_cast<double>(std::max<Index>(1, data.rows()));
  for (Index begin = 0; begin < data.rows(); begin += kBlockRows) {
    const Index end = std::min(data.rows(), begin + kBlockRows);
    const RunControl part =
        part_of(control, static_cast<double>(begin) / all, static_cast<double>(end - begin) / all);
    const Matrix rows = rows_for(model, data.slice(begin, end), control).features();
    if (!model.has_probabilities()) {
      scores.add(begin, predict(model, rows, part));
      continue;
    }
    const DecisionValues values = decision_values(model, rows, part);
    scores.add(begin, predict(model, values, part));
    scores.add(begin, probabilities(model, values, part));
  }
  data.require_intact();
  return scores.finish();
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
  return std::sqrt(squared_norms(expansion, expansion.support_vectors(), false, control)[0]);
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
  return evaluate_blocks(model, data, control);
}

Evaluation evaluate(const Model& model, const Dataset& mine, const DecisionValues& own_values,
                    const RunControl& control) {
  Group& group = group_of(control);
  require_labels(mine, group);
  if (own_values.rows != mine.rows())
    throw InvalidArgument(fmt::format("decision values of {} for data of {}",
                                      counted(own_values.rows, "row"), mine.rows()));
  Scores scores(model, mine.labels(), group);
  scores.add(0, predict(model, own_values, control));
  if (model.has_probabilities()) scores.add(0, probabilities(model, own_values, control));
  return scores.finish();
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

// calibrate() and train_calibrated(): checks, folds, scores. The fit is in src/model.
#include "tamis/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "data/folds.hpp"
#include "model/calibration_fit.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kFoldStream = 0xca11b;  // random numbers that no method draws

// Class of each row; every class of the model must have a row that weighs something.
std::vector<std::int32_t> require_all_classes(const Labels& classes, const Dataset& data) {
  if (data.labels().kind() == LabelKind::none)
    throw DataError("the data has no labels to calibrate with");
  std::vector<std::int32_t> codes = encode_labels(data.labels(), classes);
  std::vector<bool> seen(usize(classes.size()), false);
  for (Index i = 0; i < data.rows(); ++i) {
    const std::int32_t code = codes[usize(i)];
    if (code < 0) {
      throw DataError(fmt::format("row {} has the label {}, which the model does not know", i + 1,
                                  data.labels().name(i)));
    }
    if (data.weight(i) > 0) seen[usize(code)] = true;
  }
  for (Index c = 0; c < classes.size(); ++c) {
    if (!seen[usize(c)])
      throw DataError(fmt::format("no row has the label {}: calibration needs some of every class",
                                  classes.name(c)));
  }
  return codes;
}

// Folds that are alike: the rows of each class that weigh something are dealt out in turn.
std::vector<std::vector<Index>> deal_folds(std::span<const std::int32_t> codes,
                                           const Labels& classes, const Dataset& data, int folds,
                                           std::uint64_t seed) {
  Strata of_class(usize(classes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (data.weight(static_cast<Index>(i)) > 0)
      of_class[usize(codes[i])].push_back(static_cast<Index>(i));
  }
  for (Index c = 0; c < classes.size(); ++c) {
    if (of_class[usize(c)].size() >= 2) continue;
    throw DataError(
        fmt::format("the class {} has one row: probabilities from folds need two of every class",
                    classes.name(c)));
  }
  Random random(seed, kFoldStream);
  return deal_rows(std::move(of_class), folds, random);
}

void require_classes(Task task) {
  if (task != Task::classification)
    throw InvalidArgument("probabilities are for classes: a regression has none");
}

RunControl named_phase(const RunControl& control, const std::string& phase) {
  RunControl own = control;
  if (!control.on_progress) return own;
  own.on_progress = [&control, phase](Progress progress) {
    progress.phase = phase;
    control.on_progress(progress);
  };
  return own;
}

}  // namespace

Model calibrate(const Model& model, const Dataset& held_out, CalibrationMethod method,
                const RunControl& control) {
  if (model.empty()) throw InvalidArgument("the model is empty: train or load one first");
  require_classes(model.task());
  if (model.classes().size() < 2) throw DataError("the model knows one class only");
  const auto codes = require_all_classes(model.classes(), held_out);
  const DecisionValues scores = decision_values(model, held_out.features(), control);
  return with_threads(control.threads, [&] {
    return model.with_calibration(
        fit_calibration(method, decision_of(model.machine(), model.classes()),
                        model.classes().size(), scores, codes, held_out.weights()));
  });
}

TrainResult train_calibrated(const Dataset& data, const TrainOptions& options, int folds,
                             CalibrationMethod method, const RunControl& control) {
  require_classes(options.task);
  if (folds < 2 || folds > data.rows())
    throw InvalidArgument(
        fmt::format("folds is {}: give 2 or more, up to the number of rows", folds));
  TrainResult result = train(data, options, control);
  const Stopwatch watch;
  const Labels& classes = result.model.classes();
  std::vector<std::int32_t> codes = encode_labels(data.labels(), classes);
  const auto parts = deal_folds(codes, classes, data, folds, options.seed);
  DecisionValues scores;
  scores.rows = data.rows();
  for (std::size_t f = 0; f < parts.size() && !control.cancelled(); ++f) {
    const RunControl own = named_phase(control, fmt::format("fold {} of {}", f + 1, folds));
    const Model model = train(data.select(all_but(parts[f], data.rows())), options, own).model;
    if (control.cancelled()) break;
    const DecisionValues part = decision_values(model, data.features().select(parts[f]), own);
    scores.cols = part.cols;
    scores.values.resize(usize(checked_product(scores.rows, scores.cols)));
    for (std::size_t i = 0; i < parts[f].size(); ++i) {
      std::copy_n(part.values.begin() + static_cast<Index>(i) * part.cols, part.cols,
                  scores.values.begin() + parts[f][i] * part.cols);
    }
  }
  TrainReport& report = result.report;
  if (control.cancelled()) {
    report.stop_reason = StopReason::interrupted;
    report.warnings.emplace_back("interrupted before the folds were done: no probabilities");
  } else {
    result.model = with_threads(control.threads, [&] {
      return result.model.with_calibration(
          fit_calibration(method, decision_of(result.model.machine(), classes), classes.size(),
                          scores, codes, data.weights()));
    });
  }
  report.phase_seconds.emplace_back("folds", watch.seconds());
  report.train_seconds += watch.seconds();
  return result;
}

}  // namespace tamis

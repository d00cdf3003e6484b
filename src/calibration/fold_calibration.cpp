#include "calibration/fold_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "calibration/calibration_fit.hpp"
#include "data/folds.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kFoldStream = 0xca11b;  // random numbers that no method draws

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

RunControl named_phase(const RunControl& control, const std::string& phase) {
  RunControl own = control;
  if (!control.on_progress) return own;
  own.on_progress = [&control, phase](Progress progress) {
    progress.phase = phase;
    control.on_progress(progress);
  };
  return own;
}

// Decision values of every row, by the model of the other folds. Stops early when cancelled.
DecisionValues fold_scores(const Dataset& data, const std::vector<std::vector<Index>>& parts,
                           const Trainer& trainer, const RunControl& control) {
  DecisionValues scores;
  scores.rows = data.rows();
  for (std::size_t f = 0; f < parts.size() && !control.cancelled(); ++f) {
    const RunControl own = named_phase(control, fmt::format("fold {} of {}", f + 1, parts.size()));
    const Model model = trainer(data.select(all_but(parts[f], data.rows())), own).model;
    if (control.cancelled()) break;
    const DecisionValues part = decision_values(model, data.features().select(parts[f]), own);
    scores.cols = part.cols;
    scores.values.resize(usize(checked_product(scores.rows, scores.cols)));
    for (std::size_t i = 0; i < parts[f].size(); ++i) {
      std::copy_n(part.values.begin() + static_cast<Index>(i) * part.cols, part.cols,
                  scores.values.begin() + parts[f][i] * part.cols);
    }
  }
  return scores;
}

}  // namespace

void calibrate_by_folds(const Dataset& data, int folds, CalibrationMethod method,
                        std::uint64_t seed, const Trainer& trainer, const RunControl& control,
                        TrainResult* result) {
  const Stopwatch watch;
  const Labels& classes = result->model.classes();
  const std::vector<std::int32_t> codes = encode_labels(data.labels(), classes);
  const auto parts = deal_folds(codes, classes, data, folds, seed);
  const DecisionValues scores = fold_scores(data, parts, trainer, control);
  TrainReport& report = result->report;
  if (control.cancelled()) {
    report.stop_reason = StopReason::interrupted;
    report.warnings.emplace_back("interrupted before the folds were done: no probabilities");
  } else {
    result->model = with_threads(control.threads, [&] {
      return with_calibration(
          result->model, fit_calibration(method, machine_of(result->model).decision_shape().used(),
                                         classes.size(), scores, codes, data.weights()));
    });
  }
  report.phase_seconds.emplace_back("folds", watch.seconds());
  report.train_seconds += watch.seconds();
}

}  // namespace tamis

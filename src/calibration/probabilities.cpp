#include <span>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "calibration/calibration.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"

namespace tamis {

namespace {

void require_calibration(const Model& model) {
  if (model.task() == Task::regression)
    throw InvalidArgument("the model is a regression: it predicts numbers, without probabilities");
  if (!model.has_probabilities()) {
    throw InvalidArgument(
        "the model has no probabilities: calibrate it on rows it was not trained on");
  }
}

}  // namespace

Probabilities probabilities(const Model& model, const Matrix& features, const RunControl& control) {
  require_calibration(model);
  return probabilities(model, decision_values(model, features, control), control);
}

Probabilities probabilities(const Model& model, const DecisionValues& scores,
                            const RunControl& control) {
  require_calibration(model);
  if (scores.columns != machine_of(model).decision_columns(model.classes()))
    throw InvalidArgument("the decision values have other columns than those of the model");
  Probabilities result;
  result.rows = scores.rows;
  result.cols = model.classes().size();
  result.values.resize(usize(checked_product(result.rows, result.cols)));
  with_threads(control.threads, [&] {
    parallel_ranges(result.rows, 256, [&](Index begin, Index end) {
      if (control.cancelled()) throw Cancelled();
      for (Index i = begin; i < end; ++i) {
        calibration_of(model).apply(
            std::span(scores.values).subspan(usize(i * scores.cols), usize(scores.cols)),
            std::span(result.values).subspan(usize(i * result.cols), usize(result.cols)));
      }
    });
  });
  return result;
}

}  // namespace tamis

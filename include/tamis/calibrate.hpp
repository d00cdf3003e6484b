// Calibrated probabilities for the classes of any model, computed from its decision values.
// Calibration does not change the predicted labels; near a boundary, the most probable class may
// differ from the predicted one.
#pragma once

#include <string_view>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis {

// The names are part of the model format.
enum class CalibrationMethod {
  sigmoid,   ///< 1 / (1 + exp(a f + b)), two parameters per binary SVM (Platt); needs few rows
  isotonic,  ///< any non-decreasing function; needs some hundreds of rows
};

/// "sigmoid", "isotonic".
TAMIS_EXPORT std::string_view calibration_name(CalibrationMethod method);
/// Throws InvalidArgument on another name.
TAMIS_EXPORT CalibrationMethod parse_calibration_method(std::string_view name);

/// Returns the model with probabilities fitted on labeled rows that it was not trained on; row
/// weights are used. Throws DataError unless the rows have every class of the model and no other,
/// and InvalidArgument for a regression.
TAMIS_EXPORT Model calibrate(const Model& model, const Dataset& held_out,
                             CalibrationMethod method = CalibrationMethod::sigmoid,
                             const RunControl& control = {});

/// Row-major, one row per input row. Column c is class c of model.classes(); rows sum to 1.
struct Probabilities {
  Index rows = 0;
  Index cols = 0;
  std::vector<double> values;
  double at(Index i, Index c) const { return values[static_cast<std::size_t>(i * cols + c)]; }
};

/// Throws InvalidArgument when the model has not been calibrated.
TAMIS_EXPORT Probabilities probabilities(const Model& model, const Matrix& features,
                                         const RunControl& control = {});
/// The same from decision values of the model, without evaluating it again.
TAMIS_EXPORT Probabilities probabilities(const Model& model, const DecisionValues& values,
                                         const RunControl& control = {});

/// Trains on all rows, and fits the probabilities by cross-validation with `folds` >= 2 folds: each
/// fold is scored by a model trained on the others. Limits in the options apply to each of the
/// folds + 1 trainings. If it is stopped before the folds are done, the model is usable but has no
/// probabilities, and report.warnings says so.
TAMIS_EXPORT TrainResult train_calibrated(const Dataset& data, const TrainOptions& options,
                                          int folds,
                                          CalibrationMethod method = CalibrationMethod::sigmoid,
                                          const RunControl& control = {});

}  // namespace tamis

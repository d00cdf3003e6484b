// Probabilities from decision values, for the classes of any model. The labels a model predicts
// stay what they are: the label is the machine's, the probabilities say how sure to be of it, and
// the most probable class may be another one near a boundary.
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
  sigmoid,   ///< 1 / (1 + exp(a f + b)), two numbers a machine (Platt): needs few rows
  isotonic,  ///< any rising function: needs some hundreds of rows
};

/// "sigmoid", "isotonic".
TAMIS_EXPORT std::string_view calibration_name(CalibrationMethod method);
/// Throws InvalidArgument on another name.
TAMIS_EXPORT CalibrationMethod parse_calibration_method(std::string_view name);

/// The model with probabilities fitted on labelled rows that it was not trained on; row weights
/// count. Throws DataError unless the rows have every class of the model and no other, and
/// InvalidArgument for a regression.
TAMIS_EXPORT Model calibrate(const Model& model, const Dataset& held_out,
                             CalibrationMethod method = CalibrationMethod::sigmoid,
                             const RunControl& control = {});

/// Row-major, a row for each input row. Column c is class c of model.classes(); rows sum to 1.
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

/// Trains on all rows, and fits the probabilities on scores that machines trained on the other
/// folds give to each of `folds` >= 2 parts. Limits of the options hold for each of the folds + 1
/// trainings. Stopped before the folds are done, the model is usable and has no probabilities;
/// report.warnings tell.
TAMIS_EXPORT TrainResult train_calibrated(const Dataset& data, const TrainOptions& options,
                                          int folds,
                                          CalibrationMethod method = CalibrationMethod::sigmoid,
                                          const RunControl& control = {});

}  // namespace tamis

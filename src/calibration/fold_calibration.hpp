// Probabilities fitted on scores of rows that a model has not seen: cross-validation around a
// trainer that is passed in.
#pragma once

#include <functional>

#include "tamis/calibrate.hpp"

namespace tamis {

/// Throws InvalidArgument for a regression.
void require_classification(Task task);

using Trainer = std::function<TrainResult(const Dataset& data, const RunControl& control)>;

/// Gives the model of `result`, trained on `data`, probabilities fitted on the scores that models
/// trained on the other folds give to each fold. Cancelled, it leaves the model as it is and says
/// so in the warnings.
void calibrate_by_folds(const Dataset& data, int folds, CalibrationMethod method,
                        std::uint64_t seed, const Trainer& trainer, const RunControl& control,
                        TrainResult* result);

}  // namespace tamis

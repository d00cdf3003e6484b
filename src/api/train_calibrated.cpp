#include <fmt/format.h>

#include "calibration/fold_calibration.hpp"
#include "selection/run_training.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"

namespace tamis {

TrainResult train_calibrated(const Dataset& data, const TrainOptions& options, int folds,
                             CalibrationMethod method, const RunControl& control) {
  options.validate();
  require_classification(options.task);
  if (folds < 2 || folds > data.rows())
    throw InvalidArgument(
        fmt::format("folds is {}: give 2 or more, up to the number of rows", folds));
  const Trainer trainer = [&](const Dataset& rows, const RunControl& own) {
    return run_training(rows, options, own);
  };
  TrainResult result = trainer(data, control);
  calibrate_by_folds(data, folds, method, options.seed, trainer, control, &result);
  return result;
}

}  // namespace tamis

#include <fmt/format.h>

#include "calibration/fold_calibration.hpp"
#include "selection/mapped_training.hpp"
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
  return train_mapped(data, options, control, [&](const Dataset& rows) {
    TrainResult result = trainer(rows, control);
    calibrate_by_folds(rows, folds, method, options.seed, trainer, control, &result);
    return result;
  });
}

}  // namespace tamis

#include "tamis/train.hpp"

#include "selection/mapped_training.hpp"
#include "selection/run_training.hpp"

namespace tamis {

TrainResult train(const Dataset& data, const TrainOptions& options, const RunControl& control) {
  options.validate();
  return train_mapped(data, options, control,
                      [&](const Dataset& rows) { return run_training(rows, options, control); });
}

}  // namespace tamis

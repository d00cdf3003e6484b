#include "tamis/train.hpp"

#include "selection/run_training.hpp"

namespace tamis {

TrainResult train(const Dataset& data, const TrainOptions& options, const RunControl& control) {
  options.validate();
  return run_training(data, options, control);
}

}  // namespace tamis

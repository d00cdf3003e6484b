// Training with any method, auto included.
#pragma once

#include "tamis/train.hpp"

namespace tamis {

/// Runs the method that the options name, or chooses one. The options are valid.
TrainResult run_training(const Dataset& data, const TrainOptions& options,
                         const RunControl& control);

}  // namespace tamis

// The method that chooses a method: docs/auto.md says by which rule.
#pragma once

#include "tamis/train.hpp"

namespace tamis {

/// Chooses scaling, C and gamma on a part of the rows, tries the methods that may do on growing
/// parts, and trains the one with the lowest forecast error that fits into the time, on as many
/// rows as fit. options.method is "auto".
TrainResult train_auto(const Dataset& data, const TrainOptions& options, const RunControl& control);

}  // namespace tamis

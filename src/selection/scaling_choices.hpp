// Which scalings are worth a trial.
#pragma once

#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// The one that was asked for, or: columns as they are where their ranges are alike; also [0, 1]
/// and standardized where they are not. A sparse matrix of many columns must stay sparse: it is
/// only divided by its largest values.
std::vector<ScalingMethod> scaling_choices(const Dataset& data, const TrainOptions& asked);

}  // namespace tamis

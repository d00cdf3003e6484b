// From the machine of a method that looked at a part of the rows to the optimum on all of them.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// Trains the exact machine on all rows, beginning from `trained`, and adds what that took to its
/// report. A machine that is not a kernel expansion with the wanted decision is returned as it is,
/// with a warning.
MethodResult polish(const TrainingSet& data, const TrainContext& context, MethodResult trained);

}  // namespace tamis

// The exact machine: the optimum of the full problem.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

MethodResult train_exact(const TrainingSet& data, const TrainContext& context);
Method exact_method();

}  // namespace tamis

// The linear machine: w'x + offset, by dual coordinate descent (src/linear).
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

MethodResult train_linear(const TrainingSet& data, const TrainContext& context);
Method linear_method();

}  // namespace tamis

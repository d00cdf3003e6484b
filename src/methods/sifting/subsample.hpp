// The baseline of all sifting: a random part of the rows, and one machine.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

MethodResult train_subsample(const TrainingSet& data, const TrainContext& context);
Method subsample_method();

}  // namespace tamis

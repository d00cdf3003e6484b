// Leader + SVM: a machine on the leaders of each class. Romero, "Using the Leader algorithm with
// support vector machines for large data sets", ICANN 2011.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

MethodResult train_leader(const TrainingSet& data, const TrainContext& context);
Method leader_method();

}  // namespace tamis

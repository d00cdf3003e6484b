// Methods that put the work off until they are asked.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// The majority of the k nearest training rows, or their mean.
MethodResult train_knn(const TrainingSet& data, const TrainContext& context);
Method knn_method();
/// A machine trained on the k nearest training rows of each query.
MethodResult train_knn_svm(const TrainingSet& data, const TrainContext& context);
Method knn_svm_method();

}  // namespace tamis

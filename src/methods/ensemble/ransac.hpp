// The best of many machines on random parts of the rows with random parameters (K. Nishida,
// T. Kurita, "RANSAC-SVM for large-scale datasets", 2008).
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// An ordinary kernel machine: the one with the fewest errors on rows it was not trained on.
MethodResult train_ransac(const TrainingSet& data, const TrainContext& context);
Method ransac_method();

}  // namespace tamis

// From the user's options to what one binary SVM is trained with.
#pragma once

#include "methods/common/method.hpp"
#include "svm/train_binary.hpp"

namespace tamis {

/// The options' tolerance and limits, with what is left of the time now.
qp::Limits limits_now(const TrainContext& context);

/// Settings of an SVM that starts now.
BinarySettings binary_settings(const TrainingSet& data, const TrainContext& context,
                               Index cache_bytes);

}  // namespace tamis

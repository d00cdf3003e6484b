// A method under its time limit.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// Trains, and polishes if asked. When max_seconds are over, the method is cancelled wherever it
/// is; if it has trained nothing by then, a sample of the rows is trained on instead, so that the
/// model is better than a constant. A caller who cancels gets what the method has, even a constant.
MethodResult train_within_limit(const Method& method, const TrainingSet& data,
                                const TrainContext& context);

}  // namespace tamis

// The method `exact` with the rows spread over several ranks.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// The same model as on one rank, to the last bit, on every rank. `data` are this rank's rows.
MethodResult train_exact_together(const TrainingSet& data, const TrainContext& context);

}  // namespace tamis

// Random sampling with a certificate: the optimum of the full problem from draws of its rows.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// The hard margin (P1), or the narrowest hard tube of a regression (P6). Throws DataError when the
/// classes are not separable, or no tube is wide enough.
MethodResult train_opt_margin(const TrainingSet& data, const TrainContext& context);
Method opt_margin_method();

/// The soft margin: the C-SVC of --cost, or the reduced hulls (P2) of --margin-k or --nu; for a
/// regression the soft tube (P7).
MethodResult train_opt_soft_margin(const TrainingSet& data, const TrainContext& context);
Method opt_soft_margin_method();

}  // namespace tamis

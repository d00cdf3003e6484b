// The engine: rows and options in, model and report out, for one named method. Searches,
// comparisons and the public train() all call it.
#pragma once

#include "methods/common/method.hpp"
#include "tamis/train.hpp"

namespace tamis {

/// Prepares the rows, runs the method, polishes if asked, wraps and times. The options are valid
/// and name a method of the registry (not auto). `start`: coefficients for rows of `data`, for a
/// warm start of `exact`; it is left out when it has other binary SVMs. Throws as train() does.
TrainResult run_method(const Dataset& data, const TrainOptions& options, const RunControl& control,
                       const KernelMachine* start = nullptr);
/// The same with a method that need not be in the registry.
TrainResult run_method(const Method& method, const Dataset& data, const TrainOptions& options,
                       const RunControl& control, const KernelMachine* start = nullptr);

}  // namespace tamis

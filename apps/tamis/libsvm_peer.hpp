// LIBSVM's own programs as a row of a comparison.
#pragma once

#include <functional>

#include "tamis/compare.hpp"
#include "tamis/split.hpp"

namespace tamis::cli {

/// Runs svm-train and svm-predict with the same parameters on the data of each run. Times are of
/// whole processes, reading included. The row says why when there is no result.
ComparisonRow libsvm_row(const std::function<Split(Index)>& data_of_run, Index runs,
                         const TrainOptions& options, const RunControl& control);

}  // namespace tamis::cli

// What a run falls back on that time ends before anything was trained: an SVM on so few rows that
// it takes a tenth of a second or so.
#pragma once

#include <vector>

#include "methods/common/method.hpp"

namespace tamis {

/// A random sample, some of every class, ascending; fewer where rows are long.
std::vector<Index> stopgap_rows(const TrainingSet& data, const TrainOptions& options);

/// The options without the time that has passed already, and with few pair updates instead.
TrainOptions stopgap_options(TrainOptions options);

}  // namespace tamis

// Which distance the leader pass uses for each class.
#pragma once

#include <span>
#include <vector>

#include "methods/common/method.hpp"
#include "methods/leader/leader_threshold.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// T of each class: as the options have it, or found from the wanted number of leaders.
/// `class_rows` are the rows of each class, of which `data` holds all or a random part.
///
/// Found thresholds are one for all classes, unless it would leave a class with less than half or
/// more than twice its share of the leaders (the part of the rows that belong to the class), or
/// with fewer than kLeastOfAClass: such a class gets a threshold of its own that keeps it within
/// these bounds. Throws InvalidArgument for options that do not fit the classes.
std::vector<double> leader_thresholds(const TrainingSet& data, const Metric& metric,
                                      std::span<const Index> class_rows,
                                      const TrainContext& context, const FetchRows& fetch = {});

}  // namespace tamis

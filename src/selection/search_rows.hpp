// The rows and folds of a search, drawn with random numbers that no method draws.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// Rows to search on: drawn from each class in proportion; rows of weight 0 are not among them.
Dataset draw_search_rows(const Dataset& data, Index rows, const TrainOptions& base);

/// The rows of each cross-validation fold, with every class in proportion.
std::vector<std::vector<Index>> deal_search_folds(const Dataset& data, Index folds,
                                                  const TrainOptions& base);

/// For the points of a random search.
Random search_points_random(const TrainOptions& base);

}  // namespace tamis

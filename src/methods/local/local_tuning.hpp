// C and gamma that a neighborhood chooses for itself.
#pragma once

#include <span>

#include "methods/common/method.hpp"

namespace tamis {

struct LocalChoice {
  double cost_factor = 1;  ///< on C of all rows
  double gamma = 1;

  bool operator==(const LocalChoice&) const = default;
};

/// Cross-validation on the innermost rows of a neighborhood, which are those it answers for, over C
/// and gamma around those of the options. The rows of `set` are those of the neighborhood, nearest
/// to its center first. Another point is taken only if its errors are fewer by their standard
/// deviation (a regression: its squared error is lower by that share): of nine, the best is better
/// by chance too. When the run must stop, nothing is changed.
LocalChoice tune_neighborhood(const TrainingSet& set, Index innermost, const TrainContext& context);

/// What this takes for this number of rows, on top of what one training does.
Index tuning_bytes(Index rows);

}  // namespace tamis

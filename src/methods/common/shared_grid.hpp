// Cross-validation of exact machines at many values of C and gamma, with what can be shared shared:
// distances by all points, the kernel matrix by all folds and costs of one gamma, and the machine
// of one cost as the start of the next.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "methods/common/fold_race.hpp"
#include "methods/common/method.hpp"

namespace tamis {

struct CostAndGamma {
  double cost = 1;
  double gamma = 1;
};

/// Whether the matrices fit into what the memory budget leaves.
bool fits_shared_grid(Index rows, Index gammas, const RunControl& control);

/// Trains on all folds but one and asks for that one, for every point. C of the options stands for
/// the costs in `data`; their ratio to a point's cost is kept. With `racing`, points that have lost
/// are dropped. `on_point` is called, from many threads, when a fold of a point is done or not
/// needed any more. When time is up or the caller cancels, what is not done stays NaN.
std::vector<FoldScores> cross_validate_exact(const TrainingSet& data,
                                             std::span<const CostAndGamma> points,
                                             std::span<const std::vector<Index>> folds, bool racing,
                                             const TrainContext& context,
                                             const std::function<void()>& on_point);

}  // namespace tamis

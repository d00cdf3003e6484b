// The last step of `auto`: the training that everything else was for.
#pragma once

#include "selection/auto_budget.hpp"
#include "selection/candidates.hpp"

namespace tamis {

/// Trains the candidate on all rows, or on as many as it is planned for, in what is left of the
/// time. A training that the limit stops all the same loses to the best model of the trials when it
/// is worse than that. Throws Cancelled when it is cancelled and there is neither.
TrainResult train_chosen(const Dataset& data, const Strata& strata, const Candidate& best,
                         const Trials& trials, const AutoBudget& budget, const RunControl& control);

}  // namespace tamis

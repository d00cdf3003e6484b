// Judging the best tries of a climb again, on other held-out rows.
#pragma once

#include <functional>

#include "selection/candidates.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// The trials of a drawing of held-out rows; 0 is the one that the tries were judged by.
using DrawSeries = std::function<TrialSeries(std::size_t drawing)>;

/// The lowest of many errors on the same rows is biased (optimistic) because it is the minimum of
/// many. The best tries race on: each round draws another hold-out set, and those whose mean error
/// is a standard error above the lowest drop out. Settles on the smoothest of those left. Returns
/// false, with nothing changed, when there was no second try or no time for a round.
bool race(const DrawSeries& draw, Index held_out_rows, double seconds, const RunControl& control,
          Candidate* candidate);

}  // namespace tamis

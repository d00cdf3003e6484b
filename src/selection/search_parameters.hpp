// The search behind tune(): which points, on which rows, in how many rounds, and which is best.
#pragma once

#include <vector>

#include "tamis/tune.hpp"

namespace tamis {

/// As tune(), for options that are valid.
TuneResult search_parameters(const Dataset& data, const TuneOptions& options,
                             const RunControl& control);

/// The number of rows of each round, ascending up to `rows`. One round, unless halving: then each
/// has three times the rows of the one before, and a third of its points.
std::vector<Index> round_rows(Search search, std::size_t points, Index rows);

/// Whether a search may drop points that have lost on the first folds.
bool can_race(const TuneOptions& options);

/// What was scored on more folds first: the others were dropped, or out of time. Then lower errors,
/// then lower values, which make smoother machines. Unknown errors last.
bool is_better(const TunePoint& a, const TunePoint& b);

}  // namespace tamis

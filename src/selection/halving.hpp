// Successive halving: which candidate is worth trials on more rows.
#pragma once

#include <span>

#include "selection/candidates.hpp"

namespace tamis {

/// Tries all candidates on few rows, then the better half, and whoever is close to the best, on
/// four times as many, and so on up to all rows, as far as the seconds go. A candidate without
/// trials could not be tried at all.
void try_by_halving(const TrialSeries& series, double seconds, std::span<Candidate> pool);

}  // namespace tamis

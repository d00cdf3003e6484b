// The smallest k = 1/D for which the reduced hulls of the two sides do not meet.
#pragma once

#include "methods/sampling/reweighting.hpp"

namespace tamis {

struct MarginSearch {
  double k = 0;  ///< the smallest found; 0: even the largest does not separate
  Reweighting::Outcome outcome = Reweighting::Outcome::not_separated;
};

/// k is large enough exactly when w is not 0 (Theorem 6.1 of the paper), and a draw shows that it
/// is not. k is doubled from 1 until it is, then bisected down to a step of 1 or of 1 %; the
/// sampling goes on with its weights all the while, as section 6 proposes. `largest_k`: the weight
/// of the lighter side. Leaves `sampling` with the answer for the k returned.
MarginSearch find_smallest_k(Reweighting& sampling, double largest_k);

}  // namespace tamis

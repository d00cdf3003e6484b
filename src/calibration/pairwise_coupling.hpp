// Probabilities of k classes from those of their pairs.
#pragma once

#include <span>

namespace tamis {

/// `pairs` holds r_ij = P(class i, given i or j) in (0, 1) for (0,1), (0,2) .. (1,2) ..; finds
///
///   minimise over p   sum over i < j of (r_ji p_i - r_ij p_j)^2,   p >= 0, sum of p = 1
///
/// T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability estimates for multi-class classification by
/// pairwise coupling", JMLR 5, 2004, second method, algorithm 2, as LIBSVM.
void couple_pairs(std::span<const double> pairs, std::span<double> probabilities);

}  // namespace tamis

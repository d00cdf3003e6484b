// The vectorised steps of the pair solver, chosen at run time for the machine's instruction set.
#pragma once

#include "tamis/dataset.hpp"

namespace tamis::qp {

/// The arrays the steps work on, padded to a multiple of kPairPadding with coordinates that can
/// never be chosen (up = -inf, down = +inf). Real is float or double: float is twice as fast and
/// enough while coefficients are moderate.
inline constexpr Index kPairPadding = 16;

template <typename Real>
struct PairArrays {
  Real* sums = nullptr;            ///< F
  const Real* up = nullptr;        ///< up score + F
  const Real* down = nullptr;      ///< down score + F
  const Real* diagonal = nullptr;  ///< K_ii + ridge_i
};

/// Largest up score with its place, and smallest down score. Ties go to the lower place.
struct Extremes {
  double max_up = 0;
  Index argmax_up = -1;
  double min_down = 0;
};

template <typename Real>
Extremes find_extremes(const PairArrays<Real>& arrays, Index begin, Index end);

/// F += step (row_i - row_j), and the extremes of the result in the same pass.
template <typename Real>
Extremes update_and_find_extremes(const PairArrays<Real>& arrays, const float* row_i,
                                  const float* row_j, double step, Index begin, Index end);

/// The partner j that makes (up_i - down_j)^2 / (K_ii + K_jj - 2 K_ij) largest among down_j < up_i
/// (Fan, Chen and Lin, "Working set selection using second order information", 2005); -1 if there
/// is none.
template <typename Real>
Index find_partner(const PairArrays<Real>& arrays, const float* row_i, double up_i,
                   double diagonal_i, Index begin, Index end);

}  // namespace tamis::qp

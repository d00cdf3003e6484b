// Moving C, gamma and tube of a candidate downhill by the error on held-out rows.
#pragma once

#include <vector>

#include "selection/candidates.hpp"
#include "selection/parameters.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// Parameters that the climb may change.
struct Freedom {
  bool cost = true;
  bool gamma = true;
  bool tube = false;
};

/// What the user did not set, and the candidate has.
Freedom freedom_of(const TrainOptions& asked, const TrainOptions& candidate);

struct Stride {
  double tries = 1;  ///< that the time is to be enough for: fewer of them have more rows
  double cost_step = 1;
  double gamma_step = 1;
  double tube_step = 1;
};

/// Factors on the parameters to try. A narrower kernel wants a lower cost, so both move at once
/// too. Steps of twice the length come last: they cross what is flat but for the noise of the
/// held-out rows.
std::vector<Move> moves(const Freedom& freedom, const Stride& stride);

/// Tries moves in turn until none helps or the seconds are over, and settles on the smoothest of
/// the best tries. Earlier tries on as many rows count.
void climb(const TrialSeries& series, const Freedom& freedom, const Stride& stride, double seconds,
           const RunControl& control, Candidate* candidate);

/// Parameters that are best for few rows are not for many. From those on, one candidate climbs in
/// long strides on rows that many tries can afford, then in short ones on more rows.
void climb_twice(const TrialSeries& series, const Freedom& freedom, double seconds,
                 const RunControl& control, Candidate* candidate);

}  // namespace tamis

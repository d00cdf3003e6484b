// Scaling, C and gamma of the exact machine, found quickly on a part of the rows.
#pragma once

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct PilotParameters {
  TrainOptions options;  ///< the ones asked for, with scaling, cost and gamma chosen
  double error = 0;      ///< of the cross-validation; NaN: there was none
};

/// Whether the user set it, or there is nothing to choose.
bool keeps_cost(const TrainOptions& options);
bool keeps_gamma(const TrainOptions& options);

/// Cross-validation on 1,000 rows for every scaling, then on more rows around the best, as far as
/// the seconds go. What the user set (see AutoOptions) stays.
PilotParameters pilot_parameters(const Dataset& data, const TrainOptions& asked, double seconds,
                                 const RunControl& control);

}  // namespace tamis

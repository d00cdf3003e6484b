// Scaling, C, gamma and tube of the exact machine, found quickly on a part of the rows.
#pragma once

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct PilotParameters {
  TrainOptions options;  ///< the ones asked for, with scaling, cost, gamma and tube chosen
  double error = 0;      ///< of the cross-validation; NaN: there was none
};

/// Cross-validation on 1,000 rows for every scaling, then on more rows around the best, as far as
/// the seconds go. The tube of a regression is a share of the standard deviation of its numbers.
/// What the user set stays.
PilotParameters pilot_parameters(const Dataset& data, const TrainOptions& asked, double seconds,
                                 const RunControl& control);

}  // namespace tamis

// Feature weights for `auto`: learned once, where they pay.
#pragma once

#include <string>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct MetricChoice {
  TrainOptions options;  ///< the parameters, with feature weights if these pay
  std::string remark;    ///< for people; empty: they do not pay
};

/// Whether `auto` should try: the user did not say no, and the kernel is one of features.
bool may_learn_metric(const TrainOptions& asked);

/// Learns feature weights from the rows, with the parameters of the pilot. Those the user did not
/// ask for are taken only if they are better on held-out rows by more than chance, and
/// if they cannot be learned there are none; those asked for throw the Error then.
MetricChoice choose_metric(const Dataset& rows, const TrainOptions& asked,
                           const TrainOptions& parameters, double seconds,
                           const RunControl& control);

}  // namespace tamis

// What is searched when nobody names axes.
#pragma once

#include <vector>

#include "tamis/tune.hpp"

namespace tamis {

/// As default_axes() of tamis/tune.hpp.
std::vector<TuneAxis> usual_axes(const Dataset& data, const TrainOptions& base,
                                 const RunControl& control);

}  // namespace tamis

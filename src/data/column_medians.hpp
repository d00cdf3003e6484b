// Medians of columns some values of which are missing.
#pragma once

#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Of each column, over the rows that have a value (NaN: have none), zeros that are not stored
/// included; of an even number of values the mean of the middle two. 0 where no row has a value.
/// Infinite values count as such, and a median that is infinite becomes 0. Throws ResourceError,
/// Cancelled.
std::vector<float> column_medians(const Matrix& features, const RunControl& control);

}  // namespace tamis

// The errors of a search over two parameters as a picture of characters.
#pragma once

#include <string>

#include "tamis/tune.hpp"

namespace tamis::cli {

/// A line for each value of the first of two axes, highest first, a column for each of the second;
/// the best is in brackets, points that were dropped have a star. Columns that do not fit into 80
/// characters follow in blocks below. `color`: shades by terminal codes. Empty unless there are two
/// axes and the points are a grid.
std::string heat_map(const TuneResult& result, Task task, bool color);

/// A number of an axis, short: a power of two as such.
std::string axis_value_text(double value);

}  // namespace tamis::cli

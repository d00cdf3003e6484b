// A linear kernel needs one weight per column in place of kernel values.
#pragma once

#include <span>

#include "tamis/dataset.hpp"

namespace tamis {

/// w += coefficient * row
void add_row(const Matrix& data, Index row, double coefficient, std::span<double> w);

/// <w, row>
double dot_row(const Matrix& data, Index row, std::span<const double> w);

}  // namespace tamis

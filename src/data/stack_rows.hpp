// Matrices on top of each other.
#pragma once

#include <span>

#include "tamis/dataset.hpp"

namespace tamis {

/// The rows of all parts, in order. All have the same columns; dense if the first one is.
Matrix stack_rows(std::span<const Matrix> parts);

}  // namespace tamis

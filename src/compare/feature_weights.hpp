#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tamis/model.hpp"

namespace tamis {

/// Columns and the weights that the model learned for them, the largest first, 100 at most; empty:
/// it learned none.
std::vector<std::pair<std::string, double>> largest_weights(const Model& model);

}  // namespace tamis

// How far apart two words are.
#pragma once

#include <string_view>

namespace tamis {

/// Edits that turn a into b: insert, delete, replace, or swap two neighbors, each costing 1
/// (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

}  // namespace tamis

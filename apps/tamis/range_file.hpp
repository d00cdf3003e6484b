// The file that keeps a scaling, so that test rows are scaled as the training rows were.
#pragma once

#include <string>

#include "tamis/scaling.hpp"

namespace tamis::cli {

/// JSON, written whole or not at all.
void save_ranges(const std::string& path, const Scaling& scaling, const RunControl& control = {});
/// Throws IoError, or DataError when the file is not one that save_ranges() wrote.
Scaling load_ranges(const std::string& path);

}  // namespace tamis::cli

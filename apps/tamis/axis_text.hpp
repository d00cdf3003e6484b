// Values to try, as they are written on the command line.
#pragma once

#include <string>

#include "tamis/tune.hpp"

namespace tamis::cli {

/// "cost=1,10,100", or "gamma=2^-15:2^3:4": from 2^-15 to 2^3 in steps of factor 4. A number may be
/// written as a power. Throws UsageError.
TuneAxis parse_axis(const std::string& text);

}  // namespace tamis::cli

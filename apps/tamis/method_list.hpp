// The methods of a comparison as they are written on the command line.
#pragma once

#include <string>
#include <vector>

#include "tamis/compare.hpp"

namespace tamis::cli {

/// "exact,falk,falk/small": methods, or METHOD/LABEL to have one several times. Each gets a copy of
/// `shared`. Throws UsageError for unknown or repeated ones.
std::vector<ComparedMethod> parse_methods(const std::string& text, const TrainOptions& shared);

/// "falk.k=500": sets an option of the entry of that name. Throws UsageError, also when the method
/// does not use the option.
void set_method_option(const std::string& text, std::vector<ComparedMethod>* methods);

}  // namespace tamis::cli

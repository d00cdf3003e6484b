#pragma once

#include <string>
#include <vector>

namespace tamis::cli {

/// LIBSVM glues the label to its letter and gives the factor apart: -w1 5 -w-1 2, any number of
/// times. That would be read as -w with the value "1", so it is rewritten as one --class-weight
/// that also takes up those given by their long name. `arguments` are those after the program's
/// name; only `train` and `certify` have such letters. Throws UsageError.
std::vector<std::string> join_class_weights(const std::vector<std::string>& arguments);

}  // namespace tamis::cli

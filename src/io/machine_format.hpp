// How each kind of machine lies in a tensor file. A new kind is one pair of functions and one line
// in the table of machine_format.cpp.
#pragma once

#include <memory>
#include <string>

#include "io/tensor_file.hpp"
#include "model/local_machine.hpp"
#include "model/machine.hpp"

namespace tamis {

/// Adds the machine's arrays and metadata under names that begin with `prefix`, so that one file
/// can hold many. The machine must live until the writer's write(). Throws DataError for a kind
/// that has no format.
void add_machine(TensorWriter& writer, const std::string& prefix, const Machine& machine);

/// `trainer` is handed to machines that train when they predict. Throws DataError unless every
/// count and index fits.
std::shared_ptr<const Machine> get_machine(const TensorFile& file, const std::string& prefix,
                                           LocalTrainer trainer);

}  // namespace tamis

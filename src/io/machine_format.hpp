// How each kind of machine lies in a tensor file. A new kind is one pair of functions and one line
// in the table of machine_format.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/tensor_file.hpp"
#include "model/local_machine.hpp"
#include "model/machine.hpp"
#include "tamis/error.hpp"

namespace tamis {

/// Adds the machine's arrays and metadata under names that begin with `prefix`, so that one file
/// can hold many. The machine must live until the writer's write(). Throws DataError for a kind
/// that has no format.
void add_machine(TensorWriter& writer, const std::string& prefix, const Machine& machine);

/// The kinds that have a format.
std::vector<std::string_view> machine_kinds();

/// What to do about a file with a name or version that this program does not know.
std::string newer_version_advice(const TensorFile& file);

/// parse(name), which throws an Error for a name it does not know. A later version may know it, so
/// the DataError that comes out says what to do.
template <typename Parse>
auto parse_name(const TensorFile& file, const std::string& name, const Parse& parse) {
  try {
    return parse(name);
  } catch (const Error& error) {
    throw DataError(error.what() + ("; " + newer_version_advice(file)));
  }
}

/// `trainer` is handed to machines that train when they predict. Throws DataError unless every
/// count and index fits.
std::shared_ptr<const Machine> get_machine(const TensorFile& file, const std::string& prefix,
                                           LocalTrainer trainer);

}  // namespace tamis

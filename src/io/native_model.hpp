// Tamis's own model files: a tensor file with a machine, its classes and its scaling.
#pragma once

#include "io/input_bytes.hpp"
#include "io/output_file.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// The arrays stay where they are: the model keeps the input alive. Throws DataError; messages do
/// not name the file.
Model parse_native_model(InputBytes input);
void write_native_model(const Model& model, OutputFile& out);

}  // namespace tamis

// Tamis's own model files: a tensor file with a machine, its classes and its scaling.
#pragma once

#include "io/byte_sink.hpp"
#include "io/input_bytes.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// The arrays stay where they are: the model keeps the input alive. Throws DataError; messages do
/// not name the file.
Model parse_native_model(InputBytes input);
void write_native_model(const Model& model, ByteSink& out);

}  // namespace tamis

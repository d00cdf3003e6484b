// Tamis's own model files: a tensor file with a machine, its classes and its scaling.
#pragma once

#include "io/byte_sink.hpp"
#include "io/input_bytes.hpp"
#include "model/local_machine.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// The arrays stay where they are: the model keeps the input alive. `trainer` is handed to machines
/// that train when they predict. Throws DataError; messages do not name the file.
Model parse_native_model(InputBytes input, LocalTrainer trainer);
void write_native_model(const Model& model, ByteSink& out);

}  // namespace tamis

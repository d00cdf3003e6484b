// LIBSVM's text models: c_svc, nu_svc, epsilon_svr and nu_svr with any of its kernels.
#pragma once

#include <string>

#include "io/input_bytes.hpp"
#include "io/output_file.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// True if the bytes begin like a LIBSVM model.
bool is_libsvm_model(std::string_view bytes);

/// Parses on the threads of the caller's arena. Throws ParseError. `name` is for messages.
Model parse_libsvm_model(const std::string& name, const InputBytes& input,
                         const RunControl& control = {});

/// Throws DataError when the format cannot hold the model: scaling, classes that are not whole
/// numbers, machines other than one-vs-one.
void write_libsvm_model(const Model& model, OutputFile& out);

}  // namespace tamis

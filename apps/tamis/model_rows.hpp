// Rows that a model is to be used on.
#pragma once

#include <string>

#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/model.hpp"

namespace tamis::cli {

/// Reads rows with the columns of the model, found by name where both have names. What svmlight
/// rows have beyond its columns is left out, with a remark, unless the model is one that takes any
/// columns.
Dataset read_rows_for(Session& session, const Model& model, const std::string& path,
                      ReadOptions read);

}  // namespace tamis::cli

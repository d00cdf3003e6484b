// Copies of rows that need not fit into memory.
#pragma once

#include <span>
#include <string>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// As features.select(rows), but in a scratch file where the budget leaves too little memory
/// (base/scratch.hpp). `what` names the work in a ResourceError.
Matrix copy_rows(const Matrix& features, std::span<const Index> rows, const std::string& what,
                 const RunControl& control);

/// The rows, copied if they lie in a mapped file: a model must not depend on a file of data.
Matrix unmapped_rows(const Matrix& features, const RunControl& control);

}  // namespace tamis

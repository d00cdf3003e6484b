// Rows of data files, for estimators that are given a path.
#pragma once

#include <pybind11/pybind11.h>

namespace tamis::python {

/// tamis._core.Rows and read_rows.
void bind_reading(pybind11::module_& module);

}  // namespace tamis::python

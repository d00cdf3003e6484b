// What the library reports, as plain Python dictionaries.
#pragma once

#include <pybind11/pybind11.h>

#include "tamis/certify.hpp"
#include "tamis/compare.hpp"
#include "tamis/report.hpp"

namespace tamis::python {

pybind11::dict to_dict(const TrainReport& report);
/// `machines` is a list with a dictionary for each machine.
pybind11::dict to_dict(const Certificate& certificate);
/// `rows` is a list with a dictionary for each method, of numbers and texts; what is not known is
/// NaN.
pybind11::dict to_dict(const Comparison& comparison);

}  // namespace tamis::python

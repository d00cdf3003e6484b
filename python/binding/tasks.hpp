// Parts of a training that a Python function runs, for example on the workers of a Dask cluster.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "tamis/control.hpp"
#include "tamis/group.hpp"

namespace tamis::python {

/// A group of this process alone, whose tasks run_tasks(tasks: list[bytes], shared: bytes,
/// cancelled: () -> bool) runs; it returns a list of bytes, or None for those given up. `shared` is
/// the same object in many calls. Null for None. To be destroyed with the interpreter's lock.
std::unique_ptr<Group> task_group(pybind11::object run_tasks);

/// tamis._core.run_task, for workers.
void bind_tasks(pybind11::module_& module);

}  // namespace tamis::python

// Long work that leaves Python responsive: other Python threads run, Ctrl-C is heard, progress is
// told.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

#include "tamis/control.hpp"

namespace tamis::python {

/// Calls work(control) on a thread of its own, while the calling thread gives up the interpreter's
/// lock, looks for signals every few milliseconds and hands each progress report to `on_progress`
/// (or None). Worker threads never touch Python. When a signal handler or `on_progress` raises, the
/// work is cancelled, and the exception goes on once the work has ended; otherwise what the work
/// threw is thrown.
void run_listening(int threads, std::int64_t memory_bytes, const pybind11::object& on_progress,
                   const std::function<void(const RunControl&)>& work);

/// Calls work(control) right here, on one thread and without the interpreter's lock: for what takes
/// no longer than a moment.
void run_briefly(const std::function<void(const RunControl&)>& work);

}  // namespace tamis::python

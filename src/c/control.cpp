#include <fmt/format.h>

#include <new>

#include "c/handles.hpp"

namespace tamis::c {

RunControl run_control(const tamis_control* control) {
  RunControl run;
  if (control == nullptr) return run;
  run.threads = control->threads;
  run.memory_bytes = control->memory_bytes;
  run.cancel = &control->is_cancelled;
  if (control->progress != nullptr) {
    run.on_progress = [control](const Progress& progress) {
      if (control->progress(progress.phase.c_str(), progress.done_fraction,
                            progress.elapsed_seconds, control->user) != 0)
        control->is_cancelled = true;
    };
  }
  return run;
}

}  // namespace tamis::c

using tamis::c::guarded;
using tamis::c::required;

extern "C" {

tamis_control* tamis_control_new(void) { return new (std::nothrow) tamis_control; }

void tamis_control_free(tamis_control* control) { delete control; }

int tamis_control_set_threads(tamis_control* control, int threads, tamis_error** error) {
  return guarded(error, [&] {
    if (threads < 0 || threads > 4096)
      throw tamis::InvalidArgument(
          fmt::format("the number of threads is {}: it must be between 0 and 4096", threads));
    required(control, "control").threads = threads;
  });
}

int tamis_control_set_memory(tamis_control* control, int64_t bytes, tamis_error** error) {
  return guarded(error, [&] {
    if (bytes < 0)
      throw tamis::InvalidArgument(
          fmt::format("the memory budget is {} bytes: it must be 0 or more", bytes));
    required(control, "control").memory_bytes = bytes;
  });
}

void tamis_control_set_progress(tamis_control* control, tamis_progress_function function,
                                void* user) {
  if (control == nullptr) return;
  control->progress = function;
  control->user = user;
}

void tamis_control_cancel(tamis_control* control) {
  if (control != nullptr) control->is_cancelled = true;
}

void tamis_control_resume(tamis_control* control) {
  if (control != nullptr) control->is_cancelled = false;
}

}  // extern "C"

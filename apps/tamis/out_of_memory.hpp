// The end of a run that finds no more memory.
#pragma once

namespace tamis::cli {

inline constexpr const char* kOutOfMemory = "out of memory: use fewer rows, or a smaller --memory";

/// Keeps some memory for what has to be done when there is no more, so that the exception reaches
/// main; where none can be thrown (a destructor of nlohmann's JSON asks for memory), ends the
/// program with message and exit code instead of an abort.
void prepare_for_lack_of_memory();

}  // namespace tamis::cli

// Which files were looked at from end to end, so that a second run starts at once.
#pragma once

#include <string_view>

#include "base/platform.hpp"

namespace tamis {

/// A finding ("finite") about the file of this stamp, made by an earlier run of the same user. It
/// is kept in $XDG_CACHE_HOME/tamis/checked, or ~/.cache/tamis/checked. A file that changed since
/// has another stamp, so that nothing old is believed.
bool was_found(const FileStamp& file, std::string_view finding);

/// Keeps the finding. Where that cannot be written, the next run looks again: no error. A file that
/// changed within the last second is not trusted to keep its stamp when it changes again, and not
/// remembered. Safe with any number of processes.
void remember_finding(const FileStamp& file, std::string_view finding);

}  // namespace tamis

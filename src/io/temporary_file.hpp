// The file that output is written to before it takes its name. A process that is killed leaves it
// behind; the next one that writes the same output removes it.
#pragma once

#include <string>

namespace tamis {

struct OutputTemporary {
  std::string path;
  int fd = -1;  ///< -1: could not be made, errno says why
};

/// Makes an empty file in the folder of `target` and locks it for as long as it is open: a name
/// ".tamis-HASH-N.tmp" that depends on the name of the target, so that the files left behind are
/// found without a look at the whole folder. Those that nobody holds a lock on are removed. Safe
/// with any number of processes and threads that write the same target.
OutputTemporary make_temporary_file(const std::string& target);

/// Removes every such file of the folder that nobody holds a lock on, whatever its target was: for
/// folders whose targets may never be written again.
void remove_abandoned_files(const std::string& folder);

/// The folder part of a path; "." if it has none.
std::string folder_of(const std::string& path);

}  // namespace tamis

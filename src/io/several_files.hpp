// Data in several files: which these are, what part of them a rank reads, and how their rows become
// one Dataset.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/file_place.hpp"
#include "tamis/io.hpp"

namespace tamis {

/// The files that a path and ReadOptions::more_files stand for, in the order in which they are
/// read: a path is a file's name, or a pattern (`*`, `?`, `[..]`) for the names that match it,
/// ascending. Throws IoError for a pattern that nothing matches.
std::vector<std::string> expand_paths(const std::string& path,
                                      const std::vector<std::string>& more_files);

/// Reads one of the files, with the ranks of `control` if it has any.
using ReadOneFile = std::function<Dataset(const std::string& path, FilePlace place,
                                          const ReadOptions& options, const RunControl& control)>;

/// The rows of all files, in their order: what one file with all rows would give. Files of 0 bytes
/// are passed over. Each rank reads the rows of its part of all bytes; a compressed file is read by
/// the rank that has its first byte.
Dataset read_several(const std::vector<std::string>& files, const ReadOptions& options,
                     const RunControl& control, const ReadOneFile& read_one);

}  // namespace tamis

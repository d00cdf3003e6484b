// A whole input as one read-only span of bytes, unpacked if it was compressed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tamis/control.hpp"

namespace tamis {

/// The bytes live as long as `owner` does. `heap_bytes` counts against the memory budget: 0 for a
/// mapped file, whose pages the system can drop.
struct InputBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
  std::int64_t heap_bytes = 0;
};

/// What messages call the input: the path, or "<stdin>" for "-".
std::string input_name(const std::string& path);

/// Maps a plain file; reads pipes, devices and "-" to their end; unpacks gzip, xz, bzip2 and zstd,
/// recognised by their first bytes. Throws IoError (cannot open or read), DataError (a broken
/// archive) and ResourceError (more bytes than the memory budget). A mapped file must not be
/// truncated by others while it is read.
InputBytes read_input(const std::string& path, const RunControl& control);

}  // namespace tamis

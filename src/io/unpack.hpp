// Compressed input: gzip, xz, bzip2 and zstd, recognized by their first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/input_bytes.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// How many of the first bytes is_compressed looks at.
inline constexpr std::int64_t kMagicBytes = 10;

bool is_compressed(std::string_view head);

/// What the compressed bytes hold, all members of the file one after the other. Throws DataError
/// (damaged or cut short) and ResourceError (more than `limit` bytes).
InputBytes unpack(const std::string& name, const InputBytes& packed, std::int64_t limit,
                  const RunControl& control);

}  // namespace tamis

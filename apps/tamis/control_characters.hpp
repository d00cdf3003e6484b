// Characters that give orders to a terminal, where text of a file is shown.
#pragma once

#include <cstddef>

namespace tamis::cli {

/// Bytes of the control character that `text` begins with, 0 if it begins with another: those of
/// ASCII, and U+0080 to U+009F, which have two bytes in UTF-8. The end of the text is none.
inline std::size_t control_length(const char* text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if ((byte > 0 && byte < 0x20) || byte == 0x7F) return 1;
  return byte == 0xC2 && (static_cast<unsigned char>(text[1]) & 0xE0U) == 0x80 ? 2 : 0;
}

}  // namespace tamis::cli

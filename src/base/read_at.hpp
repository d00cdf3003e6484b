// Reading a part of a file.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tamis {

/// As pread(), but goes on after signals and where the system reads less than asked for (Linux:
/// 2 GiB at most). The number of bytes, fewer where the file ends; -1: errno says why.
inline std::int64_t read_at(int descriptor, std::span<std::byte> to, std::int64_t offset) {
  std::int64_t total = 0;
  while (!to.empty()) {
    const ssize_t got = pread(descriptor, to.data(), to.size(), offset + total);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    to = to.subspan(static_cast<std::size_t>(got));
    total += got;
  }
  return total;
}

}  // namespace tamis

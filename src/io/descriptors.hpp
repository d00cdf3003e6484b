// Numbers of open files.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tamis {

/// The same open file with a number above 2. Where a standard stream is closed, open() hands out
/// its number; what somebody prints would then end up in the file. -1 stays -1, with errno as it
/// was.
inline int beyond_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int saved = errno;
  close(fd);
  errno = saved;
  return moved;
}

}  // namespace tamis

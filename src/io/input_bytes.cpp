#include "io/input_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/platform.hpp"
#include "base/progress.hpp"
#include "io/descriptors.hpp"
#include "io/growing_buffer.hpp"
#include "io/unpack.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::size_t kReadBytes = GrowingBuffer::kRoom;

[[noreturn]] void fail_io(const std::string& name, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", name, what, std::generic_category().message(errno)));
}

// Waits in short steps, so that a silent pipe can still be cancelled, also one that nobody has
// opened for writing yet.
void wait_readable(int fd, ProgressMeter& meter) {
  pollfd waiting{fd, POLLIN, 0};
  do {
    meter.add(0);
  } while (poll(&waiting, 1, 50) <= 0);
}

InputBytes read_to_end(const std::string& name, int fd, std::int64_t limit,
                       const RunControl& control) {
  ProgressMeter meter(control, "read", 0);
  GrowingBuffer buffer(name, limit);
  for (;;) {
    wait_readable(fd, meter);
    const ssize_t got = read(fd, buffer.tail(), kReadBytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail_io(name, "cannot read");
    if (got == 0) return buffer.release();
    buffer.added(static_cast<std::size_t>(got));
  }
}

// Not to block on a pipe that has no writer yet: it is waited for where that can be cancelled.
int open_file(const std::string& path) {
  return beyond_standard_streams(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

[[noreturn]] void fail_open(const std::string& name, const std::string& path) {
  const int reason = errno;
  struct stat info {};
  if (reason == ENXIO && stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode))
    throw IoError(name + ": cannot read: it is a socket");
  errno = reason;
  fail_io(name, "cannot open");
}

// A plain file as it is, everything else read to its end. Takes the descriptor unless it is
// standard input.
InputBytes take_input(const std::string& name, int fd, std::int64_t limit,
                      const RunControl& control) {
  struct stat info {};
  if (fstat(fd, &info) != 0) fail_io(name, "cannot open");
  const bool is_stdin = fd == STDIN_FILENO;
  const auto file = is_stdin ? nullptr : std::make_shared<const InputFile>(name, fd, info.st_size);
  if (S_ISDIR(info.st_mode)) throw IoError(name + ": cannot read: it is a folder");
  // Some files of /proc say they are regular and empty, yet hold text; a redirected standard input
  // may not stand at its beginning.
  if (is_stdin || !S_ISREG(info.st_mode) || info.st_size == 0)
    return read_to_end(name, fd, limit, control);
  InputBytes input;
  input.file = file;
  return input;
}

InputBytes load_file(const std::string& name, const InputFile& file, std::int64_t limit,
                     const RunControl& control) {
  require_memory("reading " + name, file.size(), limit);
  const auto size = static_cast<std::size_t>(file.size());
  const std::shared_ptr<char[]> data = std::make_shared_for_overwrite<char[]>(size);
  ProgressMeter meter(control, "read", file.size());
  for (std::size_t offset = 0; offset < size; offset += kReadBytes) {
    const std::size_t count = std::min(kReadBytes, size - offset);
    file.read(static_cast<std::int64_t>(offset), {data.get() + offset, count});
    meter.add(static_cast<std::int64_t>(count));
  }
  return {{data.get(), size}, data, file.size(), nullptr, nullptr};
}

}  // namespace

char* PieceBuffer::room(std::int64_t bytes) {
  if (bytes > capacity_) {
    data_.reset();  // before the new one: they need not fit together
    data_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));
    capacity_ = bytes;
  }
  return data_.get();
}

InputFile::InputFile(std::string name, int fd, std::int64_t size)
    : name_(std::move(name)), fd_(fd), size_(size) {
  will_read(fd_);
}

InputFile::~InputFile() { close(fd_); }

void InputFile::read(std::int64_t offset, std::span<char> to) const {
  while (!to.empty()) {
    const ssize_t got = pread(fd_, to.data(), to.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io(name_, "cannot read");
    if (got == 0) throw IoError(name_ + ": the file became shorter while it was read");
    to = to.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

std::shared_ptr<const MappedFile> InputFile::map() const { return MappedFile::map(name_, fd_); }

std::int64_t InputBytes::size() const {
  return file ? file->size() : static_cast<std::int64_t>(bytes.size());
}

std::string_view InputBytes::piece(std::int64_t offset, std::int64_t count,
                                   PieceBuffer& buffer) const {
  const auto bytes_there =
      static_cast<std::size_t>(std::clamp<std::int64_t>(size() - offset, 0, count));
  if (!file)
    return bytes.substr(std::min(bytes.size(), static_cast<std::size_t>(offset)), bytes_there);
  char* const to = buffer.room(count);
  file->read(offset, {to, bytes_there});
  return {to, bytes_there};
}

std::string input_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

InputBytes open_input(const std::string& path, const RunControl& control) {
  const std::string name = input_name(path);
  const int fd = path == "-" ? STDIN_FILENO : open_file(path);
  if (fd < 0) fail_open(name, path);
  const std::int64_t limit = resolve_memory_budget(control.memory_bytes);
  InputBytes input = take_input(name, fd, limit, control);
  PieceBuffer buffer;
  if (!is_compressed(input.piece(0, kMagicBytes, buffer))) return input;
  return unpack(name, input, limit - input.heap_bytes, control);
}

bool is_compressed_file(const std::string& path) {
  const int fd = open_file(path);
  if (fd < 0) fail_open(path, path);
  struct stat info {};
  const bool is_plain = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const InputFile file(path, fd, is_plain ? info.st_size : 0);
  char head[kMagicBytes];
  const auto count = usize(std::min(kMagicBytes, file.size()));
  file.read(0, {head, count});
  return is_compressed({head, count});
}

InputBytes load_input(const std::string& name, const InputBytes& input, const RunControl& control,
                      bool may_map) {
  if (!input.file) return input;
  if (may_map && input.file->size() >= kMappedBytes) {
    if (const auto mapped = input.file->map()) return {mapped->bytes(), mapped, 0, nullptr, mapped};
  }
  return load_file(name, *input.file, resolve_memory_budget(control.memory_bytes), control);
}

InputBytes read_input(const std::string& path, const RunControl& control, bool may_map) {
  return load_input(input_name(path), open_input(path, control), control, may_map);
}

}  // namespace tamis

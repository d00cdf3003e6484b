#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "io/descriptors.hpp"
#include "io/temporary_file.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

// Where a chain of symbolic links ends; the last target need not exist.
std::string resolve_links(const std::string& path) {
  std::filesystem::path current = path;
  std::error_code error;
  for (int hops = 0; hops < 40 && std::filesystem::is_symlink(current, error); ++hops) {
    const auto next = std::filesystem::read_symlink(current, error);
    if (error) break;
    current = next.is_absolute() ? next : current.parent_path() / next;
  }
  return current.string();
}

// The descriptor that a name like /dev/stdout or /dev/fd/5 stands for; -1: none. To open such a
// name would begin a redirected file anew, and its link does not always lead to a path.
int named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int fd = -1;
    const char* const end = path.data() + path.size();
    const auto parsed = std::from_chars(path.data() + folder.size(), end, fd);
    return parsed.ec == std::errc() && parsed.ptr == end ? fd : -1;
  }
  return -1;
}

void sync_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // the rename happened; that it is on the disk is best effort
  fsync(fd);
  close(fd);
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const RunControl& control)
    : cancel_(control.cancel), path_(path) {
  buffer_.reserve(kBufferBytes);
  if (path == "-") {
    fd_ = STDOUT_FILENO;
    borrowed_ = true;
    return;
  }
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) throw IoError(path + ": cannot write: it is a folder");
  if (named_descriptor(path) >= 0 || (exists && !S_ISREG(info.st_mode))) {
    open_directly();
    return;
  }
  target_ = resolve_links(path);
  // A rename would replace a write-protected file without asking.
  if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot write");
  open_temporary();
  if (exists && fchmod(fd_, info.st_mode & 07777U) != 0) {
    const int saved = errno;
    close_now();
    errno = saved;
    fail("cannot set the permissions");
  }
}

OutputFile::~OutputFile() { close_now(); }

void OutputFile::open_directly() {
  const int named = named_descriptor(path_);
  do {
    fd_ = named >= 0 ? fcntl(named, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                     : beyond_standard_streams(open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd_ < 0 && errno != EINTR) fail("cannot open for writing");
    if (fd_ < 0) require_wanted();
  } while (fd_ < 0);
}

void OutputFile::open_temporary() {
  OutputTemporary made = make_temporary_file(target_);
  fd_ = made.fd;
  if (fd_ < 0) fail("cannot create");
  temporary_ = std::move(made.path);
}

void OutputFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes)
    write_all(bytes);
  else
    buffer_.append(bytes);
}

void OutputFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void OutputFile::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    // A pipe takes less than all of it only when a signal interrupts the wait.
    if (temporary_.empty() && !bytes.empty()) require_wanted();
  }
}

void OutputFile::commit() {
  flush();
  if (borrowed_) return;
  if (temporary_.empty()) {
    const int fd = fd_;
    fd_ = -1;
    if (close(fd) != 0) fail("cannot write");
    return;
  }
  if (fsync(fd_) != 0) fail("cannot write");
  // Closed last: without its lock the temporary file would count as abandoned.
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot rename into place");
  temporary_.clear();
  close_now();
  sync_folder(folder_of(target_));
}

void OutputFile::require_wanted() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw Cancelled();
}

void OutputFile::close_now() {
  // Removed before it is closed: the name may be another process's a moment after.
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  if (fd_ >= 0 && !borrowed_) close(fd_);
  fd_ = -1;
}

void OutputFile::fail(const char* what) const {
  throw IoError(fmt::format("{}: {}: {}", path_, what, std::generic_category().message(errno)));
}

}  // namespace tamis

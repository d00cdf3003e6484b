#include "io/input_bytes.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include "base/memory.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

[[noreturn]] void fail_io(const std::string& name, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", name, what, std::generic_category().message(errno)));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Grows by realloc, which moves pages instead of copying large blocks.
class GrowingBuffer {
 public:
  GrowingBuffer(std::string name, std::int64_t limit_bytes)
      : name_(std::move(name)), limit_(static_cast<std::size_t>(limit_bytes)) {}
  ~GrowingBuffer() { std::free(data_); }
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  /// Room for kReadBytes more.
  char* tail() {
    if (capacity_ - size_ < kReadBytes) {
      const std::size_t wanted = std::max(2 * capacity_, 4 * kReadBytes);
      void* grown = std::realloc(data_, wanted);
      if (grown == nullptr) throw std::bad_alloc();
      data_ = static_cast<char*>(grown);
      capacity_ = wanted;
    }
    return data_ + size_;
  }
  void added(std::size_t bytes) {
    size_ += bytes;
    if (size_ <= limit_) return;
    throw ResourceError(
        fmt::format("{}: its text is larger than the memory budget of {}; raise "
                    "it or use fewer rows",
                    name_, format_bytes(static_cast<std::int64_t>(limit_))));
  }
  InputBytes release() {
    if (void* fitting = std::realloc(data_, std::max<std::size_t>(size_, 1)))
      data_ = static_cast<char*>(fitting);
    InputBytes result;
    result.bytes = {data_, size_};
    result.heap_bytes = static_cast<std::int64_t>(size_);
    result.owner = std::shared_ptr<const void>(data_, [](void* data) { std::free(data); });
    data_ = nullptr;
    return result;
  }

 private:
  std::string name_;
  std::size_t limit_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

InputBytes map_file(const std::string& name, int fd, std::size_t size) {
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) fail_io(name, "cannot map");
  InputBytes result;
  result.bytes = {static_cast<const char*>(data), size};
  result.owner = std::shared_ptr<const void>(data, [size](void* mapped) { munmap(mapped, size); });
  madvise(data, size, MADV_WILLNEED);
  return result;
}

// Waits in short steps, so that a silent pipe can still be cancelled.
void wait_readable(int fd, ProgressMeter& meter) {
  pollfd waiting{fd, POLLIN, 0};
  do {
    meter.add(0);
  } while (poll(&waiting, 1, 50) == 0);
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

bool is_compressed(std::string_view bytes) {
  const bool bzip2 = bytes.starts_with("BZh"sv) && bytes.size() >= 10 &&
                     (bytes.substr(4, 6) == "\x31\x41\x59\x26\x53\x59"sv ||
                      bytes.substr(4, 6) == "\x17\x72\x45\x38\x50\x90"sv);
  return bzip2 || bytes.starts_with("\x1f\x8b"sv) || bytes.starts_with("\xfd\x37zXZ\0"sv) ||
         bytes.starts_with("\x28\xb5\x2f\xfd"sv);
}

// gzip goes through zlib: libarchive 3.6 does not look at the checksums a gzip member ends with.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16;  // no zlib or raw streams
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

// A gzip file may be several members one after the other, and be padded with zeros.
bool has_next_member(const std::string& name, std::string_view rest) {
  if (rest.starts_with("\x1f\x8b"sv)) return true;
  if (rest.find_first_not_of('\0') == std::string_view::npos) return false;
  throw DataError(
      fmt::format("{}: cannot unpack: something follows the end of the gzip data", name));
}

InputBytes unpack_gzip(const std::string& name, std::string_view packed, std::int64_t limit,
                       const RunControl& control) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  GrowingBuffer buffer(name, limit);
  ProgressMeter meter(control, "unpack", static_cast<std::int64_t>(packed.size()));
  for (;;) {
    const std::size_t given = std::min(packed.size(), kReadBytes);
    stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.tail());
    stream.avail_out = static_cast<uInt>(kReadBytes);
    const int status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t used = given - stream.avail_in;
    packed.remove_prefix(used);
    buffer.added(kReadBytes - stream.avail_out);
    meter.add(static_cast<std::int64_t>(used));
    if (status == Z_STREAM_END) {
      if (!has_next_member(name, packed)) return buffer.release();
      inflateReset(&stream);
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK) {
      const char* reason = status == Z_BUF_ERROR ? "it is cut short" : stream.msg;
      throw DataError(fmt::format("{}: cannot unpack: {}", name,
                                  reason != nullptr ? reason : "the gzip data are damaged"));
    }
  }
}

struct ArchiveCloser {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Archive = std::unique_ptr<archive, ArchiveCloser>;

[[noreturn]] void fail_unpack(const std::string& name, archive* reader) {
  const char* reason = archive_error_string(reader);
  throw DataError(fmt::format("{}: cannot unpack: {}", name,
                              reason != nullptr ? reason : "the archive is damaged or cut short"));
}

InputBytes unpack(const std::string& name, std::string_view packed, std::int64_t limit,
                  const RunControl& control) {
  const Archive reader(archive_read_new());
  if (!reader) throw std::bad_alloc();
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  if (archive_read_open_memory(reader.get(), packed.data(), packed.size()) < ARCHIVE_WARN)
    fail_unpack(name, reader.get());
  GrowingBuffer buffer(name, limit);
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(reader.get(), &entry);
  if (status == ARCHIVE_EOF) return buffer.release();
  if (status < ARCHIVE_WARN) fail_unpack(name, reader.get());
  ProgressMeter meter(control, "unpack", static_cast<std::int64_t>(packed.size()));
  std::int64_t consumed = 0;
  for (;;) {
    const la_ssize_t got = archive_read_data(reader.get(), buffer.tail(), kReadBytes);
    if (got < 0) fail_unpack(name, reader.get());
    if (got == 0) return buffer.release();
    buffer.added(static_cast<std::size_t>(got));
    const std::int64_t position = archive_filter_bytes(reader.get(), -1);
    meter.add(position - consumed);
    consumed = position;
  }
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

InputBytes read_input(const std::string& path, const RunControl& control) {
  const std::string name = input_name(path);
  const FileDescriptor file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_io(name, "cannot open");
  struct stat info {};
  if (fstat(file.get(), &info) != 0) fail_io(name, "cannot open");
  if (S_ISDIR(info.st_mode)) throw IoError(name + ": cannot read: it is a folder");
  const std::int64_t limit = resolve_memory_budget(control.memory_bytes);
  // Some files of /proc say they are regular and empty, yet hold text; a redirected standard input
  // may not stand at its beginning.
  const bool plain = S_ISREG(info.st_mode) && info.st_size > 0 && path != "-";
  InputBytes input = plain ? map_file(name, file.get(), static_cast<std::size_t>(info.st_size))
                           : read_to_end(name, file.get(), limit, control);
  if (!is_compressed(input.bytes)) return input;
  const bool gzip = input.bytes.starts_with("\x1f\x8b"sv);
  return (gzip ? unpack_gzip : unpack)(name, input.bytes, limit - input.heap_bytes, control);
}

}  // namespace tamis

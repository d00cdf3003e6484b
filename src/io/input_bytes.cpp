#include "io/input_bytes.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/descriptors.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::int64_t kPackedBytes = std::int64_t{1} << 16;

[[noreturn]] void fail_io(const std::string& name, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", name, what, std::generic_category().message(errno)));
}

// Grows by realloc, which moves pages instead of copying large blocks.
class GrowingBuffer {
 public:
  GrowingBuffer(std::string name, std::int64_t limit_bytes)
      : name_(std::move(name)),
        limit_(static_cast<std::size_t>(std::max<std::int64_t>(0, limit_bytes))) {}
  ~GrowingBuffer() { std::free(data_); }
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  /// Room for kReadBytes more.
  char* tail() {
    if (capacity_ - size_ < kReadBytes) {
      const std::size_t wanted = std::min(std::max(2 * capacity_, 4 * kReadBytes),
                                          std::max(limit_, size_) + 2 * kReadBytes);
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
bool has_next_member(const std::string& name, const InputBytes& packed, std::int64_t offset) {
  PieceBuffer buffer;
  if (packed.piece(offset, 2, buffer) == "\x1f\x8b"sv) return true;
  for (; offset < packed.size(); offset += kPackedBytes) {
    const std::string_view rest = packed.piece(offset, kPackedBytes, buffer);
    if (rest.find_first_not_of('\0') == std::string_view::npos) continue;
    throw DataError(
        fmt::format("{}: cannot unpack: something follows the end of the gzip data", name));
  }
  return false;
}

InputBytes unpack_gzip(const std::string& name, const InputBytes& packed, std::int64_t limit,
                       const RunControl& control) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  PieceBuffer piece;
  GrowingBuffer buffer(name, limit);
  ProgressMeter meter(control, "unpack", packed.size());
  for (std::int64_t offset = 0;;) {
    const std::string_view given = packed.piece(offset, kPackedBytes, piece);
    stream.next_in = reinterpret_cast<const Bytef*>(given.data());
    stream.avail_in = static_cast<uInt>(given.size());
    stream.next_out = reinterpret_cast<Bytef*>(buffer.tail());
    stream.avail_out = static_cast<uInt>(kReadBytes);
    const int status = inflate(&stream, Z_NO_FLUSH);
    const auto used = static_cast<std::int64_t>(given.size() - stream.avail_in);
    offset += used;
    buffer.added(kReadBytes - stream.avail_out);
    meter.add(used);
    if (status == Z_STREAM_END) {
      if (!has_next_member(name, packed, offset)) return buffer.release();
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

// What libarchive reads from. No exception may cross its C code: one is kept until that is left.
struct PackedInput {
  const InputBytes* packed;
  std::int64_t offset = 0;
  PieceBuffer piece;
  std::exception_ptr failure;
};

la_ssize_t next_packed(archive*, void* data, const void** bytes) {
  auto* const input = static_cast<PackedInput*>(data);
  try {
    const std::string_view piece = input->packed->piece(input->offset, kPackedBytes, input->piece);
    input->offset += static_cast<std::int64_t>(piece.size());
    *bytes = piece.data();
    return static_cast<la_ssize_t>(piece.size());
  } catch (...) {
    input->failure = std::current_exception();
    return ARCHIVE_FATAL;
  }
}

[[noreturn]] void fail_unpack(const std::string& name, archive* reader, const PackedInput& input) {
  if (input.failure) std::rethrow_exception(input.failure);
  const char* reason = archive_error_string(reader);
  throw DataError(fmt::format("{}: cannot unpack: {}", name,
                              reason != nullptr ? reason : "the archive is damaged or cut short"));
}

InputBytes unpack(const std::string& name, const InputBytes& packed, std::int64_t limit,
                  const RunControl& control) {
  PackedInput input{&packed, 0, {}, {}};
  const Archive reader(archive_read_new());
  if (!reader) throw std::bad_alloc();
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  if (archive_read_open(reader.get(), &input, nullptr, next_packed, nullptr) < ARCHIVE_WARN)
    fail_unpack(name, reader.get(), input);
  GrowingBuffer buffer(name, limit);
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(reader.get(), &entry);
  if (status == ARCHIVE_EOF) return buffer.release();
  if (status < ARCHIVE_WARN) fail_unpack(name, reader.get(), input);
  ProgressMeter meter(control, "unpack", packed.size());
  std::int64_t consumed = 0;
  for (;;) {
    const la_ssize_t got = archive_read_data(reader.get(), buffer.tail(), kReadBytes);
    if (got < 0) fail_unpack(name, reader.get(), input);
    if (got == 0) return buffer.release();
    buffer.added(static_cast<std::size_t>(got));
    const std::int64_t position = archive_filter_bytes(reader.get(), -1);
    meter.add(position - consumed);
    consumed = position;
  }
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
  return {{data.get(), size}, data, file.size(), nullptr};
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
  posix_fadvise(fd_, 0, 0, POSIX_FADV_WILLNEED);
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
  // Not to block on a pipe that has no writer yet: it is waited for below, where that can be
  // cancelled.
  const int fd =
      path == "-" ? STDIN_FILENO
                  : beyond_standard_streams(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd < 0) fail_open(name, path);
  const std::int64_t limit = resolve_memory_budget(control.memory_bytes);
  InputBytes input = take_input(name, fd, limit, control);
  PieceBuffer buffer;
  const std::string_view head = input.piece(0, 16, buffer);
  if (!is_compressed(head)) return input;
  const bool gzip = head.starts_with("\x1f\x8b"sv);
  return (gzip ? unpack_gzip : unpack)(name, input, limit - input.heap_bytes, control);
}

InputBytes read_input(const std::string& path, const RunControl& control) {
  InputBytes input = open_input(path, control);
  if (!input.file) return input;
  return load_file(input_name(path), *input.file, resolve_memory_budget(control.memory_bytes),
                   control);
}

}  // namespace tamis

// A whole input as read-only bytes, unpacked if it was compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/mapped_file.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// Memory that is used again for one piece after the other, and not cleared in between.
class PieceBuffer {
 public:
  /// Room for so many bytes; what was there before is lost.
  char* room(std::int64_t bytes);

 private:
  std::unique_ptr<char[]> data_;
  std::int64_t capacity_ = 0;
};

/// Files that can be used as they are, without parsing, are mapped from this size on. Smaller ones
/// are read, which takes no time and leaves nothing to change afterwards.
inline constexpr std::int64_t kMappedBytes = std::int64_t{16} << 20;

/// A plain file that is read in pieces.
class InputFile {
 public:
  /// Takes the descriptor.
  InputFile(std::string name, int fd, std::int64_t size);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::int64_t size() const { return size_; }
  /// Safe from many threads. Throws IoError, also when the file has become shorter.
  void read(std::int64_t offset, std::span<char> to) const;
  /// Null where it cannot be mapped.
  std::shared_ptr<const MappedFile> map() const;

 private:
  std::string name_;
  int fd_;
  std::int64_t size_;
};

/// Bytes in memory, which live as long as `owner` does, or a file. `heap_bytes` counts against the
/// memory budget.
struct InputBytes {
  std::string_view bytes;  ///< empty when they are in `file`
  std::shared_ptr<const void> owner;
  std::int64_t heap_bytes = 0;
  std::shared_ptr<const InputFile> file = nullptr;
  std::shared_ptr<const MappedFile> mapped = nullptr;  ///< where `bytes` are, if it is mapped

  std::int64_t size() const;
  /// [offset, offset + count), cut at the end: a view of the bytes in memory, or of `buffer`.
  std::string_view piece(std::int64_t offset, std::int64_t count, PieceBuffer& buffer) const;
};

/// What messages call the input: the path, or "<stdin>" for "-".
std::string input_name(const std::string& path);

/// Opens a plain file; reads pipes, devices and "-" to their end; unpacks gzip, xz, bzip2 and zstd,
/// recognized by their first bytes. Throws IoError (cannot open or read), DataError (a broken
/// archive) and ResourceError (more bytes than the memory budget).
InputBytes open_input(const std::string& path, const RunControl& control);

/// The same with all bytes in memory, or in a mapped file if `may_map` and it is a large one.
InputBytes load_input(const std::string& name, const InputBytes& input, const RunControl& control,
                      bool may_map);
InputBytes read_input(const std::string& path, const RunControl& control, bool may_map = false);

/// Whether the file begins as a compressed one does; false for anything but a plain file. Throws
/// IoError.
bool is_compressed_file(const std::string& path);

}  // namespace tamis

// A file that is looked at where it lies: the system reads its pages when they are needed, and
// drops them when memory is short.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/platform.hpp"

namespace tamis {

/// Read-only, safe from many threads. Somebody may truncate or change the file meanwhile: what is
/// read is then zeros, or no longer what was checked, and require_intact() says so. Whoever has
/// made something of the bytes asks before the result is used.
class MappedFile {
 public:
  /// Of an open file, which may be closed afterwards. Null where it cannot be mapped: it is empty,
  /// the address space is used up, or the system has no mapping.
  static std::shared_ptr<const MappedFile> map(std::string name, int descriptor);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {pages_.begin, pages_.bytes}; }
  const std::string& name() const { return name_; }
  /// Of the file as it was mapped.
  const FileStamp& stamp() const { return stamp_; }
  bool is_intact() const;
  /// Throws DataError that names the file.
  void require_intact() const;

 private:
  MappedFile(std::string name, int descriptor, const FileStamp& stamp, const MappedPages& pages)
      : name_(std::move(name)), descriptor_(descriptor), stamp_(stamp), pages_(pages) {}

  std::string name_;
  int descriptor_;
  FileStamp stamp_;
  MappedPages pages_;
};

}  // namespace tamis

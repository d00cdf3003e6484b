// An array that grows on the disk and is looked at where it lies, for results that need not fit
// into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/shared_array.hpp"

namespace tamis {

/// A file without a name: nobody else can see or change it, and it is gone with the process.
class NamelessFile {
 public:
  /// Throws IoError when the folder cannot hold one.
  explicit NamelessFile(const std::string& folder);
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  /// Throws IoError, when the disk is full above all.
  void append(std::span<const std::byte> bytes);
  std::int64_t size() const { return written_ + static_cast<std::int64_t>(buffer_.size()); }
  /// All bytes, mapped; null if there are none. Nothing is appended afterwards. Throws IoError.
  std::shared_ptr<const std::byte> map();

 private:
  void flush();

  std::string folder_;
  int fd_ = -1;
  std::int64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

template <typename T>
class ArrayFile {
 public:
  explicit ArrayFile(const std::string& folder) : file_(folder) {}

  void append(std::span<const T> values) { file_.append(std::as_bytes(values)); }
  void append(const T& value) { append(std::span<const T>(&value, 1)); }
  std::int64_t size() const { return file_.size() / static_cast<std::int64_t>(sizeof(T)); }
  SharedArray<T> finish() {
    const auto count = static_cast<std::size_t>(size());
    std::shared_ptr<const std::byte> bytes = file_.map();
    if (!bytes) return {};
    const auto* const first = reinterpret_cast<const T*>(bytes.get());
    return {std::span<const T>(first, count), std::move(bytes)};
  }

 private:
  NamelessFile file_;
};

}  // namespace tamis

// Bytes of a length that is not known before they are all there.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "base/memory.hpp"
#include "io/input_bytes.hpp"
#include "tamis/error.hpp"

namespace tamis {

/// Grows by realloc, which moves pages instead of copying large blocks. Throws ResourceError when
/// there are more than `limit_bytes`.
class GrowingBuffer {
 public:
  /// What tail() has room for.
  static constexpr std::size_t kRoom = std::size_t{1} << 20;

  GrowingBuffer(std::string name, std::int64_t limit_bytes)
      : name_(std::move(name)),
        limit_(static_cast<std::size_t>(std::max<std::int64_t>(0, limit_bytes))) {}
  ~GrowingBuffer() { std::free(data_); }
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  /// Room for kRoom more.
  char* tail() {
    if (capacity_ - size_ < kRoom) {
      const std::size_t wanted =
          std::min(std::max(2 * capacity_, 4 * kRoom), std::max(limit_, size_) + 2 * kRoom);
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

}  // namespace tamis

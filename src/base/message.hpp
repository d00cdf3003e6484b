// Values and lists one after the other as a message of a Group.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "tamis/group.hpp"

namespace tamis {

class MessageWriter {
 public:
  template <typename T>
  void put(const T& value) {
    put_bytes(std::as_bytes(std::span<const T>(&value, 1)));
    static_assert(std::is_trivially_copyable_v<T>);
  }
  template <typename T>
  void put_list(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(values.size()));
    put_bytes(std::as_bytes(values));
  }
  template <typename T>
  void put_list(const std::vector<T>& values) {
    put_list(std::span<const T>(values));
  }
  /// Bytes for MessageReader::rest(): the last thing put.
  void put_rest(std::span<const std::byte> bytes) { put_bytes(bytes); }
  Group::Message take() { return std::move(message_); }

 private:
  // Not inline: the code of an insertion, once per value put, would be most of what callers are.
  void put_bytes(std::span<const std::byte> bytes);

  Group::Message message_;
};

/// Reads in the order in which it was written, on a computer of the same kind. Every length is
/// checked before it is used: Policy::require(false) throws.
template <typename Policy>
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> get_list() {
    const auto count = get<std::uint64_t>();
    Policy::require(count <= left_.size() / sizeof(T));
    std::vector<T> values(count);
    const auto bytes = take(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::span<const std::byte> rest() const { return left_; }
  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t count) {
    Policy::require(count <= left_.size());
    const auto bytes = left_.first(count);
    left_ = left_.subspan(count);
    return bytes;
  }

  std::span<const std::byte> left_;
};

/// Of messages within a group, where a wrong length is a bug.
struct MessagePolicy {
  static void require(bool length_fits) { TAMIS_CHECK(length_fits); }
};
using MessageReader = ByteReader<MessagePolicy>;

}  // namespace tamis

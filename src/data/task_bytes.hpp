// Values, lists and rows as the bytes of a task (tamis/tasks.hpp), for a computer of the same kind.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/dataset.hpp"

namespace tamis {

class TaskWriter {
 public:
  /// The tag says what the bytes are, and by which version.
  explicit TaskWriter(std::string_view tag) : bytes_(tag) {}

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void put_list(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  template <typename T>
  void put_list(const std::vector<T>& values) {
    put_list(std::span<const T>(values));
  }
  void put_text(std::string_view text) { put_list(std::span(text.data(), text.size())); }
  void put_rows(const Matrix& rows);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads in the order in which it was written. The bytes come from another process: every length
/// is checked, and a wrong one throws DataError.
class TaskReader {
 public:
  TaskReader(std::string_view bytes, std::string_view tag) : left_(bytes) {
    if (!left_.starts_with(tag)) fail();
    left_.remove_prefix(tag.size());
  }

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> get_list() {
    const auto count = get<std::uint64_t>();
    if (count > left_.size() / sizeof(T)) fail();
    std::vector<T> values(count);
    const std::string_view bytes = take(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::string get_text();
  Matrix get_rows();
  /// All that is left.
  std::string_view rest() const { return left_; }
  [[noreturn]] static void fail();

 private:
  std::string_view take(std::size_t count);

  std::string_view left_;
};

}  // namespace tamis

// Values, lists and rows as the bytes of a task (tamis/tasks.hpp), for a computer of the same kind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/message.hpp"
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

/// The bytes come from another process: a wrong length throws DataError.
struct TaskPolicy {
  static void require(bool length_fits) {
    if (!length_fits) fail();
  }
  [[noreturn]] static void fail();
};

class TaskReader : public ByteReader<TaskPolicy> {
 public:
  TaskReader(std::string_view bytes, std::string_view tag);

  std::string get_text();
  Matrix get_rows();
  /// All that is left.
  std::string_view rest() const;
  [[noreturn]] static void fail() { TaskPolicy::fail(); }
};

}  // namespace tamis

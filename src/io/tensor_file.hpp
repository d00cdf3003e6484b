// Named arrays in one file: the safetensors layout. 8 bytes: length n of the header, little-endian;
// n bytes: JSON, padded with blanks; then the arrays, without gaps. See docs/model_format.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/byte_sink.hpp"
#include "io/input_bytes.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

enum class Dtype { f64, i64, f32, i32, u8 };  // in the order the arrays are laid out

template <typename T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, double>) return Dtype::f64;
  if constexpr (std::is_same_v<T, std::int64_t>) return Dtype::i64;
  if constexpr (std::is_same_v<T, float>) return Dtype::f32;
  if constexpr (std::is_same_v<T, std::int32_t>) return Dtype::i32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Dtype::u8;
}

/// Collects arrays and strings, then writes them in one go. Does not copy arrays.
class TensorWriter {
 public:
  void set_metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

  /// `values` must live until write(). Names must differ.
  template <typename T>
  void add(const std::string& name, const std::vector<Index>& shape, std::span<const T> values) {
    add_bytes(name, dtype_of<T>(), shape, std::as_bytes(values), nullptr);
  }
  /// Keeps `values`.
  template <typename T>
  void add(const std::string& name, const std::vector<Index>& shape, std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const auto bytes = std::as_bytes(std::span<const T>(*owner));
    add_bytes(name, dtype_of<T>(), shape, bytes, std::move(owner));
  }

  /// `write` writes the `count` values to the sink of write(), when it is their turn.
  void add_written(const std::string& name, Dtype dtype, Index count, std::function<void()> write);

  void write(ByteSink& out) const;

 private:
  struct Array {
    std::string name;
    Dtype dtype;
    std::vector<Index> shape;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    std::function<void()> write;  // in place of the bytes
  };
  void add_bytes(const std::string& name, Dtype dtype, const std::vector<Index>& shape,
                 std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::map<std::string, std::string> metadata_;
  std::vector<Array> arrays_;
};

template <typename T>
struct Tensor {
  std::vector<Index> shape;
  std::span<const T> values;
};

/// The arrays of a file, in place: spans stay valid as long as owner() does. Everything is checked
/// when the file is opened: the header is strict JSON, and shapes, types and offsets fit together
/// and fill the file.
class TensorFile {
 public:
  /// Throws DataError; messages do not name the file, but what it is to be.
  explicit TensorFile(InputBytes input, std::string kind = "model");

  const std::shared_ptr<const void>& owner() const { return input_.owner; }
  bool has(const std::string& name) const { return arrays_.contains(name); }
  bool has_metadata(const std::string& key) const { return metadata_.contains(key); }
  /// Throws DataError when there is none.
  const std::string& metadata(const std::string& key) const;
  /// Throws DataError when there is no such array, or one of another type or number of dimensions.
  template <typename T>
  Tensor<T> get(const std::string& name, std::size_t dimensions) const {
    const Array& array = find(name, dtype_of<T>(), dimensions);
    const auto* first = reinterpret_cast<const T*>(input_.bytes.data() + array.begin);
    return {array.shape, {first, array.size / sizeof(T)}};
  }

 private:
  struct Array {
    Dtype dtype = Dtype::u8;
    std::vector<Index> shape;
    std::size_t begin = 0;  // in the file
    std::size_t size = 0;   // bytes
  };
  const Array& find(const std::string& name, Dtype dtype, std::size_t dimensions) const;
  void parse_header(std::string_view text, std::size_t data_begin);
  void check_layout(std::size_t data_begin) const;

  InputBytes input_;
  std::string kind_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Array> arrays_;
};

/// Words as bytes and ends instead of in the header, so that any bytes may be a name.
void add_words(TensorWriter& writer, const std::string& ends_name, const std::string& bytes_name,
               const std::vector<std::string>& words);
/// Throws DataError unless the ends ascend within the bytes.
std::vector<std::string> get_words(const TensorFile& file, const std::string& ends_name,
                                   const std::string& bytes_name);

/// Matrices as arrays: NAME (dense), or NAME.row_begin, NAME.columns, NAME.values (sparse). The
/// matrix must live until the writer's write().
void add_matrix(TensorWriter& writer, const std::string& name, const Matrix& matrix);
/// Points into the file. Throws DataError unless the arrays fit each other and `cols`; whether the
/// values are finite is left to whoever uses them.
Matrix get_matrix(const TensorFile& file, const std::string& name, Index cols);

}  // namespace tamis

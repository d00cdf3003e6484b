#include "io/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>

#include "io/data_formats.hpp"
#include "io/text_chunks.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::int64_t kMostHeaderBytes = std::int64_t{1} << 16;

[[noreturn]] void fail(const std::string& name, const std::string& message) {
  throw DataError(name + ": " + message);
}

Index size_product(const std::string& name, Index a, Index b) {
  Index result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    fail(name, "the NumPy header is damaged: the size of the array overflows 64 bits");
  return result;
}

// Reads the Python dictionary of a header: three known keys, in any order.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), left_(text) {}

  void parse(std::string& descr, NpyArray& array) {
    expect('{');
    int keys = 0;
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        descr = descr_text();
      else if (key == "fortran_order")
        array.fortran_order = boolean();
      else if (key == "shape")
        array.shape = shape();
      else
        bad();
      ++keys;
      if (accept(',')) continue;
      expect('}');
      break;
    }
    if (keys != 3) bad();
  }

 private:
  [[noreturn]] void bad() const { fail(name_, "the NumPy header is damaged"); }
  void skip_blanks() {
    while (!left_.empty() && (left_.front() == ' ' || left_.front() == '\n'))
      left_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_blanks();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  std::string quoted() {
    skip_blanks();
    if (left_.empty() || (left_.front() != '\'' && left_.front() != '"')) bad();
    const std::size_t end = left_.find(left_.front(), 1);
    if (end == std::string_view::npos) bad();
    std::string text(left_.substr(1, end - 1));
    left_.remove_prefix(end + 1);
    return text;
  }
  std::string descr_text() {
    skip_blanks();
    if (left_.starts_with('[')) fail(name_, "a structured NumPy array; give one array of numbers");
    return quoted();
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True"sv, "False"sv}) {
      if (!left_.starts_with(word)) continue;
      left_.remove_prefix(word.size());
      return word == "True"sv;
    }
    bad();
  }
  std::vector<Index> shape() {
    std::vector<Index> sizes;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      Index size = -1;
      const auto parsed = std::from_chars(left_.data(), left_.data() + left_.size(), size);
      if (parsed.ec != std::errc() || size < 0) bad();
      left_.remove_prefix(static_cast<std::size_t>(parsed.ptr - left_.data()));
      sizes.push_back(size);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return sizes;
  }

  const std::string& name_;
  std::string_view left_;
};

// "<f4" and the like into kind and size.
void parse_type(const std::string& name, const std::string& descr, NpyArray& array) {
  const std::string_view known =
      "allowed are f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, and strings as "
      "labels";
  if (descr.find('O') != std::string::npos)
    fail(name, "the array holds Python objects; save numbers or fixed-length strings");
  Index size = 0;
  const char* const end = descr.data() + descr.size();
  const bool sized = descr.size() >= 3 && std::from_chars(descr.data() + 2, end, size).ptr == end;
  const std::string_view kinds = "fiubUS";
  if (!sized || size < 0 || kinds.find(descr[1]) == std::string_view::npos)
    fail(name, fmt::format("element type {}: {}", quote_text(descr), known));
  array.kind = descr[1];
  array.item_bytes = array.kind == 'U' ? size_product(name, size, 4) : size;
  const bool float_ok = array.kind == 'f' && (size == 4 || size == 8);
  const bool whole_ok = (array.kind == 'i' || array.kind == 'u') &&
                        (size == 1 || size == 2 || size == 4 || size == 8);
  const bool other_ok = (array.kind == 'b' && size == 1) || array.kind == 'U' || array.kind == 'S';
  if (size == 0 || (!float_ok && !whole_ok && !other_ok))
    fail(name, fmt::format("element type {}: {}", quote_text(descr), known));
  if (descr[0] == '>')
    fail(name,
         fmt::format("element type {} is big-endian; save it little-endian", quote_text(descr)));
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

NpyArray read_npy_header(const std::string& name, const InputBytes& input) {
  PieceBuffer buffer;
  const std::string_view bytes = input.piece(0, kMostHeaderBytes, buffer);
  if (bytes.empty()) fail(name, "no rows: the file is empty");
  if (!is_npy(bytes)) fail(name, "not a NumPy .npy file");
  if (bytes.size() < 12) fail(name, "the NumPy header is cut short");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    fail(name, fmt::format("NumPy format version {}: 1, 2 and 3 are known", version));
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t length = little_endian(bytes.substr(8, begin - 8));
  if (static_cast<Index>(begin + length) > input.size())
    fail(name, "the NumPy header is cut short");
  if (length > bytes.size() - begin)
    fail(name, fmt::format("the NumPy header is damaged: it has {}", counted(length, "byte")));
  NpyArray array;
  std::string descr;
  HeaderParser(name, bytes.substr(begin, length)).parse(descr, array);
  parse_type(name, descr, array);
  array.data_begin = static_cast<Index>(begin + length);
  Index expected = array.item_bytes;
  for (const Index size : array.shape) expected = size_product(name, expected, size);
  if (expected != input.size() - array.data_begin) {
    fail(name, fmt::format("{} of data, but the header promises {}",
                           counted(input.size() - array.data_begin, "byte"), expected));
  }
  return array;
}

std::string npy_header(const std::string& descr, const std::vector<Index>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descr);
  for (const Index size : shape) text += fmt::format("{}, ", size);
  if (shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  constexpr std::size_t kPrefix = 10;
  text.append((64 - (kPrefix + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

}  // namespace tamis

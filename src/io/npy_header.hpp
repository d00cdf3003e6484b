// The header of a NumPy .npy file, versions 1 to 3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/input_bytes.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

struct NpyArray {
  char kind = 'f';       // f float, i signed, u unsigned, b bool, U UTF-32 text, S bytes
  Index item_bytes = 0;  // of one element
  bool fortran_order = false;
  std::vector<Index> shape;
  Index data_begin = 0;  // in the file, which has exactly the bytes that shape and type say
};

/// Throws DataError, beginning with `name`, on anything but a little-endian array of numbers, bools
/// or strings whose data is complete.
NpyArray read_npy_header(const std::string& name, const InputBytes& input);

/// The header and magic of an array in version 1, padded so that the data is 64-byte aligned.
/// `descr` is the type, for example "<f4".
std::string npy_header(const std::string& descr, const std::vector<Index>& shape);

}  // namespace tamis

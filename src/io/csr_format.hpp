// The binary table of sparse rows, .csr: the layout of the model files (tensor_file.hpp), with the
// arrays of docs/formats.md.
#pragma once

#include <string_view>

namespace tamis {

inline constexpr std::string_view kCsrFormat = "tamis-rows";
inline constexpr std::string_view kCsrVersion = "1";
inline constexpr std::string_view kCsrKind = "table";

}  // namespace tamis

// Small text helpers that the program, the bindings and the library's own messages share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tamis/export.hpp"

namespace tamis {

/// "1.5 GiB", "12 MiB", "900 B".
TAMIS_EXPORT std::string format_bytes(std::int64_t bytes);

/// "256M", "4G", "1.5GiB", "1000000" (bytes). Throws InvalidArgument.
TAMIS_EXPORT std::int64_t parse_bytes(const std::string& text);

/// "1 row", "3 rows"; "1 class", "2 classes". `many` is for what needs more than an ending:
/// counted(n, "row is", "rows are").
TAMIS_EXPORT std::string counted(std::int64_t count, std::string_view one,
                                 std::string_view many = {});

/// The known name closest to `text`, or empty if no name is close enough to be a typing error.
TAMIS_EXPORT std::string_view nearest_name(std::string_view text,
                                           std::span<const std::string_view> known);

}  // namespace tamis

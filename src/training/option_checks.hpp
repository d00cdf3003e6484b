// One wording for a number out of its range.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "tamis/error.hpp"

namespace tamis {

/// Throws InvalidArgument unless `ok`.
inline void require_option(bool ok, std::string_view name, double value, std::string_view allowed) {
  if (!ok) throw InvalidArgument(fmt::format("{} is {}: it must be {}", name, value, allowed));
}

}  // namespace tamis

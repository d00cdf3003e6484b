// The methods, by name.
#pragma once

#include <span>
#include <string_view>

#include "methods/common/method.hpp"

namespace tamis {

/// In the order of the documentation.
std::span<const Method> method_registry();

/// The reference that others are measured against.
inline constexpr std::string_view kExactMethod = "exact";

/// The same for kDefaultMethod as for `exact`. Throws InvalidArgument with all names for an unknown
/// one.
const Method& find_method(std::string_view name);

}  // namespace tamis

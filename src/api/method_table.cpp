#include "api/method_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "methods/exact.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis {

std::span<const MethodEntry> method_table() {
  static constexpr MethodEntry kMethods[] = {
      {"exact", true, train_exact},
  };
  return kMethods;
}

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  for (const MethodEntry& method : method_table()) names.push_back(method.name);
  return names;
}

const MethodEntry& find_method(std::string_view name) {
  for (const MethodEntry& method : method_table()) {
    if (method.name == name) return method;
  }
  throw InvalidArgument(
      fmt::format("there is no method '{}': {}", name, fmt::join(method_names(), ", ")));
}

}  // namespace tamis

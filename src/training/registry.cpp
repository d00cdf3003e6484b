#include "training/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {

#define METHOD(name) Method name##_method();
#include "methods/methods.inc"
#undef METHOD

std::span<const Method> method_registry() {
#define METHOD(name) name##_method(),
  static const std::vector<Method> registry{
#include "methods/methods.inc"
  };
#undef METHOD
  return registry;
}

const Method& find_method(std::string_view name) {
  if (name == kDefaultMethod) name = kExactMethod;
  for (const Method& method : method_registry()) {
    if (method.info.name == name) return method;
  }
  if (name == kAutoMethod)
    throw InvalidArgument("the method auto chooses method and parameters itself: train with it");
  const std::vector<std::string_view> names = method_names();
  const std::string_view nearest = nearest_name(name, names);
  throw InvalidArgument(
      fmt::format("there is no method '{}'{}; choose one of {} or {}", name,
                  nearest.empty() ? std::string() : fmt::format(" (did you mean {}?)", nearest),
                  fmt::join(names, ", "), kAutoMethod));
}

const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> infos = [] {
    std::vector<MethodInfo> list;
    for (const Method& method : method_registry()) list.push_back(method.info);
    return list;
  }();
  return infos;
}

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : methods()) names.push_back(method.name);
  return names;
}

std::string_view method_kind_name(MethodKind kind) {
  constexpr std::string_view kNames[] = {"exact", "part of the rows", "local", "ensemble"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace tamis

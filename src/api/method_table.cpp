#include "api/method_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "methods/exact.hpp"
#include "methods/falk.hpp"
#include "methods/knn.hpp"
#include "methods/linear.hpp"
#include "methods/opt_margin.hpp"
#include "methods/random_subset.hpp"
#include "methods/ransac.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis {

std::span<const MethodEntry> method_table() {
  static constexpr MethodEntry kMethods[] = {
      {"exact", true, true, train_exact},
      {"falk", true, true, train_falk},
      {"falk-c", true, true, train_falk_c},
      {"falk-l", false, true, train_falk_l},
      {"knn-svm", true, true, train_knn_svm},
      {"knn", true, true, train_knn},
      {"linear", true, false, train_linear},
      {"opt-margin", true, true, train_opt_margin},
      {"opt-soft-margin", true, true, train_opt_soft_margin},
      {"random-subset", false, true, train_random_subset},
      {"ransac", false, true, train_ransac},
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

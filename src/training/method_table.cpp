#include "training/method_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "methods/ensemble/random_subset.hpp"
#include "methods/ensemble/ransac.hpp"
#include "methods/exact/exact.hpp"
#include "methods/exact/linear.hpp"
#include "methods/leader/leader.hpp"
#include "methods/local/falk.hpp"
#include "methods/local/knn.hpp"
#include "methods/sampling/opt_margin.hpp"
#include "methods/sifting/cglq.hpp"
#include "methods/sifting/local_sampling.hpp"
#include "methods/sifting/subsample.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis {

std::span<const MethodEntry> method_table() {
  static constexpr MethodEntry kMethods[] = {
      {"exact", true, true, false, train_exact},
      {"subsample", true, true, true, train_subsample},
      {"cglq", true, true, true, train_cglq},
      {"local-sampling", true, true, true, train_local_sampling},
      {"leader", false, true, true, train_leader},
      {"falk", true, true, false, train_falk},
      {"falk-c", true, true, false, train_falk_c},
      {"falk-l", false, true, false, train_falk_l},
      {"knn-svm", true, true, false, train_knn_svm},
      {"knn", true, true, false, train_knn},
      {"linear", true, false, false, train_linear},
      {"opt-margin", true, true, false, train_opt_margin},
      {"opt-soft-margin", true, true, false, train_opt_soft_margin},
      {"random-subset", false, true, false, train_random_subset},
      {"ransac", false, true, true, train_ransac},
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
  throw InvalidArgument(fmt::format("there is no method '{}': {}, or {}", name,
                                    fmt::join(method_names(), ", "), kAutoMethod));
}

}  // namespace tamis

#include "tamis/kernel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::string_view kNames[] = {"linear",  "polynomial",  "rbf",
                                       "sigmoid", "precomputed", "laplacian"};
constexpr std::size_t kLibsvmKernels = 5;  // which have numbers too

}  // namespace

void Kernel::validate() const {
  if (kernel_has(type, "gamma") && !(std::isfinite(gamma) && gamma > 0)) {
    throw InvalidArgument(fmt::format("gamma is {}: it must be finite and greater than 0", gamma));
  }
  if (!std::isfinite(coef0))
    throw InvalidArgument(fmt::format("coef0 is {}: it must be finite", coef0));
  if (type == KernelType::polynomial && (degree < 1 || degree > 100)) {
    throw InvalidArgument(fmt::format("degree is {}: it must be 1 to 100", degree));
  }
}

bool kernel_has(KernelType type, std::string_view parameter) {
  const bool is_polynomial = type == KernelType::polynomial;
  if (parameter == "gamma") return type != KernelType::linear && type != KernelType::precomputed;
  if (parameter == "coef0") return is_polynomial || type == KernelType::sigmoid;
  return parameter != "degree" || is_polynomial;
}

std::string_view kernel_name(KernelType type) { return kNames[static_cast<int>(type)]; }

KernelType parse_kernel_type(std::string_view name) {
  if (name == "poly") return KernelType::polynomial;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    const bool is_number = i < kLibsvmKernels && name == std::string_view("01234").substr(i, 1);
    if (name == kNames[i] || is_number) return static_cast<KernelType>(i);
  }
  throw InvalidArgument(fmt::format(
      "there is no kernel '{}': linear, polynomial, rbf, laplacian, sigmoid or precomputed", name));
}

std::string describe(const Kernel& kernel) {
  switch (kernel.type) {
    case KernelType::polynomial:
      return fmt::format("polynomial, degree {}, gamma {}, coef0 {}", kernel.degree, kernel.gamma,
                         kernel.coef0);
    case KernelType::rbf:
    case KernelType::laplacian:
      return fmt::format("{}, gamma {}", kernel_name(kernel.type), kernel.gamma);
    case KernelType::sigmoid:
      return fmt::format("sigmoid, gamma {}, coef0 {}", kernel.gamma, kernel.coef0);
    default:
      return std::string(kernel_name(kernel.type));
  }
}

}  // namespace tamis

// The kernels. Formulas are in src/kernels; this is only which one, with which parameters.
#pragma once

#include <string>
#include <string_view>

#include "tamis/export.hpp"

namespace tamis {

// The values are LIBSVM's -t numbers and part of the model format: never change them.
enum class KernelType {
  linear = 0,      ///< <x, z>
  polynomial = 1,  ///< (gamma <x, z> + coef0)^degree; homogeneous when coef0 = 0
  rbf = 2,         ///< exp(-gamma |x - z|^2)
  sigmoid = 3,     ///< tanh(gamma <x, z> + coef0)
  precomputed =
      4,  ///< column 0 holds the row's number s = 1.., column s of row x the value K(x, z_s)
  laplacian = 5,  ///< exp(-gamma |x - z|_1), the sum of absolute differences; LIBSVM has none
};

struct TAMIS_EXPORT Kernel {
  KernelType type = KernelType::rbf;
  double gamma = 1.0;  ///< > 0; not used by linear and precomputed
  double coef0 = 0.0;  ///< polynomial and sigmoid only
  int degree = 3;      ///< 1 .. 100, polynomial only

  /// Throws InvalidArgument naming the parameter, its value and what is allowed.
  void validate() const;
  bool operator==(const Kernel&) const = default;
};

/// "linear", "polynomial", "rbf", "sigmoid", "precomputed", "laplacian".
TAMIS_EXPORT std::string_view kernel_name(KernelType type);
/// The reverse; also takes LIBSVM's numbers "0".."4" and "poly". Throws InvalidArgument listing the
/// names.
TAMIS_EXPORT KernelType parse_kernel_type(std::string_view name);
/// Whether the kernel has the parameter "gamma", "coef0" or "degree"; true for every other word.
TAMIS_EXPORT bool kernel_has(KernelType type, std::string_view parameter);
/// For people: "rbf, gamma 2".
TAMIS_EXPORT std::string describe(const Kernel& kernel);

}  // namespace tamis

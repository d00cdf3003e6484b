// A kernel as bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tamis/kernel.hpp"

namespace tamis {

/// For messages, tasks and the keys of checkpoints: unlike a Kernel it has no padding, whose bytes
/// are anything, so that equal kernels are equal bytes.
struct PlainKernel {
  std::int64_t type = 0;
  double gamma = 0;
  double coef0 = 0;
  std::int64_t degree = 0;
};

inline PlainKernel plain(const Kernel& kernel) {
  return {static_cast<std::int64_t>(kernel.type), kernel.gamma, kernel.coef0, kernel.degree};
}

inline Kernel kernel_of(const PlainKernel& plain) {
  using Number = std::underlying_type_t<KernelType>;
  return {static_cast<KernelType>(static_cast<Number>(plain.type)), plain.gamma, plain.coef0,
          static_cast<int>(plain.degree)};
}

}  // namespace tamis

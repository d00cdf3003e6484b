// Memory for SIMD loads and stores.
#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <new>

#include "base/checked.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

using AlignedFloats = hwy::AlignedFreeUniquePtr<float[]>;

/// Not initialised; at least one.
inline AlignedFloats allocate_floats(Index count) {
  auto floats = hwy::AllocateAligned<float>(usize(std::max<Index>(count, 1)));
  if (!floats) throw std::bad_alloc();
  return floats;
}

}  // namespace tamis

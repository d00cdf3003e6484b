// Resident memory that tests expect to stay small.
#pragma once

#include <cstdint>

#include "base/memory.hpp"

namespace tamis {

/// Bytes since `before`, which resident_memory_bytes() returned. 0 with sanitizers, whose notes on
/// every byte are resident as well.
inline std::int64_t resident_growth([[maybe_unused]] std::int64_t before) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  return resident_memory_bytes() - before;
#endif
}

}  // namespace tamis

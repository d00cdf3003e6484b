// Threads, memory and instruction sets that this process may use, and its peak memory.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/export.hpp"

namespace tamis {

/// CPUs this process may use: the affinity mask and the cgroup quota, at least 1.
TAMIS_EXPORT int available_threads();

/// Ends the idle worker threads; the next call starts new ones. Call it before fork(): the child
/// has none of its parent's threads, but oneTBB would still count on them and run everything on
/// one. Returns false, and does nothing, while work is under way in another
/// thread.
TAMIS_EXPORT bool release_worker_threads();

/// What can still be allocated without swapping: the computer's available memory, or what the
/// cgroup or the limit on its address space leaves.
TAMIS_EXPORT std::int64_t available_memory_bytes();

/// Largest resident size of this process so far.
TAMIS_EXPORT std::int64_t peak_memory_bytes();

/// The best instruction set of this CPU that kernels may use: "AVX2", "NEON".
TAMIS_EXPORT std::string simd_target();

}  // namespace tamis

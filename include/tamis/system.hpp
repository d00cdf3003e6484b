// The machine as this process may use it, and what the process has used of it.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/export.hpp"

namespace tamis {

/// CPUs this process may use: the affinity mask and the cgroup quota, at least 1.
TAMIS_EXPORT int available_threads();

/// Ends the worker threads that wait for work; the next call starts new ones. For whoever is about
/// to fork(): a child has none of its parent's threads, yet oneTBB would believe they are there and
/// run everything on one. Returns false, and does nothing, while work is under way in another
/// thread.
TAMIS_EXPORT bool release_worker_threads();

/// What can still be allocated without swapping: the machine's available memory, or what the cgroup
/// or the limit on its address space leaves.
TAMIS_EXPORT std::int64_t available_memory_bytes();

/// Largest resident size of this process so far.
TAMIS_EXPORT std::int64_t peak_memory_bytes();

/// The best instruction set of this CPU that kernels may use: "AVX2", "NEON".
TAMIS_EXPORT std::string simd_target();

}  // namespace tamis

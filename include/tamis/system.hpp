// The machine as this process may use it, and what the process has used of it.
#pragma once

#include <cstdint>
#include <string>

namespace tamis {

/// CPUs this process may use: the affinity mask and the cgroup quota, at least 1.
int available_threads();

/// What can still be allocated without swapping: the machine's available memory, or what the cgroup
/// or the limit on its address space leaves.
std::int64_t available_memory_bytes();

/// Largest resident size of this process so far.
std::int64_t peak_memory_bytes();

/// The best instruction set of this CPU that kernels may use: "AVX2", "NEON".
std::string simd_target();

}  // namespace tamis

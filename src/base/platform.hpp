// What the operating system is asked beyond POSIX. Only platform.cpp knows Linux; on other systems
// each of these has a fallback, so that a port is this one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tamis {

/// Of memory and of address space.
inline constexpr std::int64_t kUnlimitedBytes = std::numeric_limits<std::int64_t>::max();

/// CPUs that this process may run on, and that its control group pays for; at least 1.
int usable_cpus();

/// What the machine could hand out without swapping.
std::int64_t machine_available_bytes();
/// What the control group of this process still allows; kUnlimitedBytes if it has no limit.
std::int64_t group_available_bytes();
/// Address space in use; 0 where the system does not say.
std::int64_t mapped_bytes();
/// Memory of this process that is in use, and the most it was so far.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

/// Address space that becomes memory only where it is touched, in large pages where that is
/// possible. Throws std::bad_alloc. release_pages gives it back.
void* reserve_pages(std::size_t bytes);
void release_pages(void* memory, std::size_t bytes);

/// Lets the system read a file ahead. A hint: nothing depends on it.
void will_read(int descriptor);

}  // namespace tamis

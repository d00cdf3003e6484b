// What memory there is, how much this process has used, and the one budget a run keeps to.
#pragma once

#include <cstdint>
#include <string>

namespace tamis {

/// Largest resident size of this process so far.
std::int64_t peak_memory_bytes();

/// Resident size of this process now.
std::int64_t resident_memory_bytes();

/// What can still be allocated without swapping: the machine's available memory, or what the cgroup
/// leaves.
std::int64_t available_memory_bytes();

/// The budget of a run: `requested` bytes, or 80 % of what is available (plus what is in use
/// already) when 0.
std::int64_t resolve_memory_budget(std::int64_t requested);

/// "1.5 GiB", "12 MiB", "900 B".
std::string format_bytes(std::int64_t bytes);

/// "256M", "4G", "1.5GiB", "1000000" (bytes). Throws InvalidArgument.
std::int64_t parse_bytes(const std::string& text);

/// Throws ResourceError "`what` needs 3 GiB, the memory budget leaves 1 GiB: ..." when needed >
/// left.
void require_memory(const std::string& what, std::int64_t needed_bytes, std::int64_t left_bytes);

}  // namespace tamis

// What memory there is, how much this process has used, and the one budget a run keeps to.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/system.hpp"
#include "tamis/text.hpp"

namespace tamis {

/// Resident size of this process now.
std::int64_t resident_memory_bytes();

/// The budget of a run: `requested` bytes, or 80 % of what is available (plus what is in use
/// already) when 0.
std::int64_t resolve_memory_budget(std::int64_t requested);

/// Throws ResourceError "`what` needs 3 GiB, the memory budget leaves 1 GiB: ..." when needed >
/// left.
void require_memory(const std::string& what, std::int64_t needed_bytes, std::int64_t left_bytes);

}  // namespace tamis

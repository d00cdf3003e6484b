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

/// What that budget leaves beside what the process holds already. Never less than 1 MiB, which
/// nobody has to ask for.
std::int64_t memory_left(std::int64_t requested);

/// Throws ResourceError "`what` needs 3 GiB, the memory budget leaves 1 GiB: ..." when needed >
/// left.
void require_memory(const std::string& what, std::int64_t needed_bytes, std::int64_t left_bytes);

/// The same for work that takes `bytes_per_column` for every column up to the largest number, also
/// for those that never occur. Says what to do about such numbers.
void require_column_memory(const std::string& what, std::int64_t columns,
                           std::int64_t bytes_per_column, std::int64_t left_bytes);

}  // namespace tamis

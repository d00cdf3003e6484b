#include "base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/platform.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// What ulimit -v still lets this process map.
std::int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimitedBytes;
  const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kUnlimitedBytes));
  return std::max<std::int64_t>(0, most - mapped_bytes());
}

}  // namespace

std::int64_t peak_memory_bytes() { return peak_resident_bytes(); }

std::int64_t resident_memory_bytes() { return resident_bytes(); }

std::int64_t available_memory_bytes() {
  return std::min({machine_available_bytes(), group_available_bytes(), address_space_left()});
}

std::int64_t resolve_memory_budget(std::int64_t requested) {
  if (requested > 0) return requested;
  return resident_memory_bytes() + available_memory_bytes() / 5 * 4;
}

std::int64_t memory_left(std::int64_t requested) {
  constexpr std::int64_t kAlways = std::int64_t{1} << 20;
  return std::max(kAlways, resolve_memory_budget(requested) - resident_memory_bytes());
}

void require_memory(const std::string& what, std::int64_t needed_bytes, std::int64_t left_bytes) {
  if (needed_bytes <= left_bytes) return;
  throw ResourceError(
      fmt::format("{} needs {}, but the memory budget leaves {}; raise it or use fewer rows", what,
                  format_bytes(needed_bytes), format_bytes(std::max<std::int64_t>(0, left_bytes))));
}

void require_column_memory(const std::string& what, std::int64_t columns,
                           std::int64_t bytes_per_column, std::int64_t left_bytes) {
  const std::int64_t needed_bytes = checked_product(columns, bytes_per_column);
  if (needed_bytes <= left_bytes) return;
  throw ResourceError(fmt::format(
      "{} with {} needs {}, but the memory budget leaves {}; number the features without "
      "gaps or hash them to fewer columns, or raise the budget",
      what, counted(columns, "column"), format_bytes(needed_bytes),
      format_bytes(std::max<std::int64_t>(0, left_bytes))));
}

}  // namespace tamis

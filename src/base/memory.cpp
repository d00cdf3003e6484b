#include "base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/checked.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// The number in a one-line file of /sys, or kUnlimited ("max" or no such file).
std::int64_t read_limit(const char* path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  return in >> value ? value : kUnlimited;
}

std::int64_t machine_available_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::int64_t kib = 0;
  std::string unit;
  while (in >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(in, unit);
  }
  return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

// What ulimit -v still lets this process map.
std::int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  std::ifstream in("/proc/self/statm");
  std::int64_t pages = 0;
  in >> pages;
  const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kUnlimited));
  return std::max<std::int64_t>(0, most - pages * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::int64_t resident_memory_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  in >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::int64_t available_memory_bytes() {
  const std::int64_t limit = read_limit("/sys/fs/cgroup/memory.max");
  std::int64_t in_cgroup = kUnlimited;
  if (limit != kUnlimited)
    in_cgroup = std::max<std::int64_t>(0, limit - read_limit("/sys/fs/cgroup/memory.current"));
  return std::min({machine_available_bytes(), in_cgroup, address_space_left()});
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

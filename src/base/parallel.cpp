#include "base/parallel.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "tamis/error.hpp"

namespace tamis {
namespace {

int affinity_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// cgroup v2: "quota period" in microseconds, or "max period".
int cgroup_threads() {
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (in >> quota >> period && period > 0) return static_cast<int>(std::ceil(quota / period));
  return 4096;
}

}  // namespace

int available_threads() { return std::max(1, std::min(affinity_threads(), cgroup_threads())); }

int resolve_threads(int requested) {
  if (requested < 0 || requested > 4096) {
    throw InvalidArgument(fmt::format("threads is {}: give 1 to 4096, or 0 for all", requested));
  }
  return requested > 0 ? requested : available_threads();
}

}  // namespace tamis

#include "base/parallel.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

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

int loop_threads() { return tbb::this_task_arena::max_concurrency(); }

bool release_worker_threads() {
  tbb::task_scheduler_handle handle{tbb::attach()};
  return tbb::finalize(handle, std::nothrow);
}

namespace detail {

void run_pieces(std::int64_t pieces, PieceCall call, const void* body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, pieces),
                    [call, body](const tbb::blocked_range<std::int64_t>& range) {
                      call(body, range.begin(), range.end());
                    });
}

void run_in_arena(int threads, WorkCall call, void* work) {
  // More threads than CPUs: without this oneTBB prints a warning and ignores the request.
  std::optional<tbb::global_control> more;
  if (threads > available_threads())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([call, work] { call(work); });
}

void run_isolated(WorkCall call, void* work) {
  tbb::this_task_arena::isolate([call, work] { call(work); });
}

}  // namespace detail

}  // namespace tamis

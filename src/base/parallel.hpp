// Threads, through oneTBB. Results must not depend on the number of threads: split work by index,
// never by thread.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tamis/system.hpp"

namespace tamis {

/// `requested` if positive, else available_threads(). Throws InvalidArgument if negative or above
/// 4096.
int resolve_threads(int requested);

/// Calls `work()` so that every parallel loop inside uses at most `threads` threads (0: all
/// available).
template <typename Work>
auto with_threads(int threads, Work&& work) {
  const int count = resolve_threads(threads);
  // More threads than CPUs: without this oneTBB prints a warning and ignores the request.
  std::optional<tbb::global_control> more;
  if (count > available_threads())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
  tbb::task_arena arena(count);
  return arena.execute(std::forward<Work>(work));
}

/// Calls body(begin, end) on pieces of [0, count) that are multiples of `grain` long (the last may
/// be shorter).
template <typename Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  const std::int64_t pieces = (count + grain - 1) / grain;
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, pieces),
                    [&](const tbb::blocked_range<std::int64_t>& range) {
                      body(range.begin() * grain, std::min(range.end() * grain, count));
                    });
}

/// Calls body(i) for every i in [0, count), each its own task.
template <typename Body>
void parallel_each(std::int64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1),
                    [&](const tbb::blocked_range<std::int64_t>& range) {
                      for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
                    });
}

}  // namespace tamis

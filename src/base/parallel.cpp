#include "base/parallel.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/cache_aligned_allocator.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Arenas that are not in use. oneTBB 2021.8 keeps some 7 KB of every arena that a worker thread
// entered, after it was destroyed: a process that trains for days makes a few and reuses them.
class IdleArenas {
 public:
  std::unique_ptr<tbb::task_arena> take(int threads) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.begin(), idle_.end(), [threads](const auto& arena) {
      return arena->max_concurrency() == threads;
    });
    if (found == idle_.end()) return std::make_unique<tbb::task_arena>(threads);
    std::unique_ptr<tbb::task_arena> arena = std::move(*found);
    idle_.erase(found);
    return arena;
  }
  void give_back(std::unique_ptr<tbb::task_arena> arena) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMost) idle_.push_back(std::move(arena));
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

  // Never destroyed: at the end of the process oneTBB may be gone before it.
  static IdleArenas& instance() {
    static auto* const arenas = new IdleArenas;
    return *arenas;
  }

 private:
  static constexpr std::size_t kMost = 64;

  IdleArenas() { idle_.reserve(kMost); }  // so that giving back cannot fail

  std::mutex mutex_;
  std::vector<std::unique_ptr<tbb::task_arena>> idle_;
};

// An arena for one call.
class BorrowedArena {
 public:
  explicit BorrowedArena(int threads) : arena_(IdleArenas::instance().take(threads)) {}
  ~BorrowedArena() { IdleArenas::instance().give_back(std::move(arena_)); }
  BorrowedArena(const BorrowedArena&) = delete;
  BorrowedArena& operator=(const BorrowedArena&) = delete;

  tbb::task_arena& operator*() { return *arena_; }

 private:
  std::unique_ptr<tbb::task_arena> arena_;
};

// oneTBB 2022 makes its first objects under a lock that it takes once more to throw: without memory
// for them it waits for itself, for ever. So memory is asked for here, where std::bad_alloc gets
// out. As a block that its allocator does not have in stock (those are below 8 KB), which makes it
// get a region that is enough for them.
void ask_for_memory() {
  constexpr std::size_t kBytes = 64 * 1024;
  tbb::cache_aligned_allocator<char> memory;
  memory.deallocate(memory.allocate(kBytes), kBytes);
}

}  // namespace

int available_threads() { return usable_cpus(); }

int resolve_threads(int requested) {
  if (requested < 0 || requested > 4096) {
    throw InvalidArgument(fmt::format("threads is {}: give 1 to 4096, or 0 for all", requested));
  }
  return requested > 0 ? requested : available_threads();
}

int loop_threads() { return tbb::this_task_arena::max_concurrency(); }

bool release_worker_threads() {
  IdleArenas::instance().clear();  // oneTBB waits for them
  tbb::task_scheduler_handle handle{tbb::attach()};
  return tbb::finalize(handle, std::nothrow);
}

namespace detail {

void run_pieces(std::int64_t pieces, PieceCall call, const void* body) {
  if (pieces == 1)
    return call(body, 0, 1);  // to predict a row takes less time than to start a task
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, pieces),
                    [call, body](const tbb::blocked_range<std::int64_t>& range) {
                      call(body, range.begin(), range.end());
                    });
}

void run_in_arena(int threads, WorkCall call, void* work) {
  ask_for_memory();
  // More threads than CPUs: without this oneTBB prints a warning and ignores the request.
  std::optional<tbb::global_control> more;
  if (threads > 1 && threads > available_threads())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  BorrowedArena arena(threads);
  (*arena).execute([call, work] { call(work); });
}

void run_isolated(WorkCall call, void* work) {
  tbb::this_task_arena::isolate([call, work] { call(work); });
}

}  // namespace detail

}  // namespace tamis

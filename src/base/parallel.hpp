// Threads, through oneTBB. Results must not depend on the number of threads: split work by index,
// never by thread. All of the library's parallel work starts here, and parallel.cpp is the only
// file that sees oneTBB.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "base/thread_edges.hpp"
#include "tamis/system.hpp"

namespace tamis {

namespace detail {

// Type-erased calls into parallel.cpp; one indirect call a piece costs nothing beside oneTBB's own.
using PieceCall = void (*)(const void* body, std::int64_t begin, std::int64_t end);
using WorkCall = void (*)(void* work);
void run_pieces(std::int64_t pieces, PieceCall call, const void* body);
void run_in_arena(int threads, WorkCall call, void* work);
void run_isolated(WorkCall call, void* work);

// Calls run(call, pointer) so that it calls `step` once.
template <typename Step, typename Run>
void run_step(Step& step, const Run& run) {
  const Fork fork(&step);
  run(
      [](void* erased) {
        const Branch branch(erased);
        (*static_cast<Step*>(erased))();
      },
      &step);
}

// Has `work` called through `run` and returns what it returned.
template <typename Work, typename Run>
auto run_erased(Work& work, const Run& run) {
  using Result = std::invoke_result_t<Work&>;
  if constexpr (std::is_void_v<Result>) {
    auto step = [&] { work(); };
    run_step(step, run);
  } else {
    std::optional<Result> result;
    auto step = [&] { result.emplace(work()); };
    run_step(step, run);
    return Result(std::move(*result));
  }
}

// Calls body(begin, end) on ranges of pieces that together are [0, pieces).
template <typename Body>
void run_loop(std::int64_t pieces, const Body& body) {
  if (pieces <= 0) return;
  const Fork fork(&body);
  run_pieces(
      pieces,
      [](const void* erased, std::int64_t begin, std::int64_t end) {
        const Branch branch(erased);
        (*static_cast<const Body*>(erased))(begin, end);
      },
      &body);
}

}  // namespace detail

/// `requested` if positive, else available_threads(). Throws InvalidArgument if negative or above
/// 4096.
int resolve_threads(int requested);

/// The threads a parallel loop started here may use.
int loop_threads();

/// Calls `work()` so that every parallel loop inside uses at most `threads` threads (0: all
/// available).
template <typename Work>
auto with_threads(int threads, Work&& work) {
  const int count = resolve_threads(threads);
  return detail::run_erased(work, [count](detail::WorkCall call, void* erased) {
    detail::run_in_arena(count, call, erased);
  });
}

/// Calls `work()` so that a thread which waits for a parallel loop inside takes up no task from
/// outside meanwhile.
template <typename Work>
auto isolated(Work&& work) {
  return detail::run_erased(work, detail::run_isolated);
}

/// Calls body(begin, end) on pieces of [0, count) that are multiples of `grain` long (the last may
/// be shorter).
template <typename Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  detail::run_loop((count + grain - 1) / grain, [&](std::int64_t begin, std::int64_t end) {
    body(begin * grain, std::min(end * grain, count));
  });
}

/// Calls body(i) for every i in [0, count), each its own task.
template <typename Body>
void parallel_each(std::int64_t count, const Body& body) {
  detail::run_loop(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Sorts as std::sort does. Where `less` leaves an order open, it depends on the values alone, not
/// on the threads.
template <typename T, typename Less>
void parallel_sort(std::span<T> values, const Less& less) {
  constexpr std::int64_t kPieces = 8;  // a power of two
  constexpr std::int64_t kFewest = 4096;
  const auto count = static_cast<std::int64_t>(values.size());
  if (count < kFewest) return std::sort(values.begin(), values.end(), less);
  const auto at = [&](std::int64_t piece) { return values.begin() + piece * count / kPieces; };
  parallel_each(kPieces, [&](std::int64_t p) { std::sort(at(p), at(p + 1), less); });
  for (std::int64_t width = 1; width < kPieces; width *= 2) {
    parallel_each(kPieces / (2 * width), [&](std::int64_t p) {
      std::inplace_merge(at(2 * p * width), at((2 * p + 1) * width), at((2 * p + 2) * width), less);
    });
  }
}

}  // namespace tamis

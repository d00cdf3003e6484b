// Settings of every long-running call: threads, memory, progress reports and cancellation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace tamis {

class CheckpointStore;
class Group;

/// A snapshot of work under way, handed to RunControl::on_progress about ten times a second.
struct Progress {
  std::string phase;           ///< what is being done, for display: "read", "train"
  double done_fraction = -1;   ///< 0..1, or negative when unknown
  double elapsed_seconds = 0;  ///< since the phase began
  double left_seconds = -1;    ///< estimate, or negative when unknown
  std::string detail;          ///< phase-specific: "iteration 1200, gap 0.03, 812 support vectors"
};

struct RunControl {
  /// Number of threads. Default (0): automatic, all that this process may use (affinity mask and
  /// cgroup quota). Results never depend on it.
  int threads = 0;

  /// Memory budget in bytes. Default (0): automatic, 80 % of the memory available now.
  std::int64_t memory_bytes = 0;

  /// Folder for temporary files of what the budget leaves no memory for, such as a scaled copy of
  /// the rows; they have no names and end with the process. Empty: $TMPDIR, or /var/tmp.
  std::string scratch_folder = {};

  /// Called from one thread at a time, never concurrently with itself. May be empty.
  std::function<void(const Progress&)> on_progress;

  /// Called with a line of text as soon as it is known, for example what `auto` chose. May be
  /// empty.
  std::function<void(const std::string&)> on_remark;

  /// Polled at least every 100 ms; set it to stop. Training then returns the model trained so far,
  /// all other work throws Cancelled. May be null. Storing to it is safe in a signal handler.
  const std::atomic<bool>* cancel = nullptr;

  /// The processes that do this together, each with its own part of the rows; null: this one alone.
  /// Must outlive the call.
  Group* group = nullptr;

  /// Where the method `exact` keeps its state, about every `checkpoint_seconds`, random-subset and
  /// ransac their finished candidates, and falk and falk-c their cells, and from where they
  /// continue; null: nowhere. The model is the same as without a break. Must outlive the call.
  CheckpointStore* checkpoint = nullptr;
  double checkpoint_seconds = 60;

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
};

}  // namespace tamis

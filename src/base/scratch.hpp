// Large arrays for work that need not fit into memory: where the budget leaves no room they lie in
// a temporary file, which the system writes to and reads from as pages are needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/checked.hpp"
#include "tamis/control.hpp"

namespace tamis {

struct ScratchBytes {
  std::shared_ptr<char[]> bytes;  ///< zeros, aligned to 64 bytes
  bool is_on_disk = false;
};

/// In memory if it takes at most this `share` of what the budget leaves, so that something is left
/// for the work; else in a file of the scratch folder that has no name, and is gone with the
/// process. Its disk space is taken at once: a full disk is an error here, not later. Throws
/// ResourceError that says how much `what` needs and what there is.
ScratchBytes scratch_bytes(const std::string& what, std::int64_t bytes, const RunControl& control,
                           double share = 0.5);

template <typename T>
struct ScratchArray {
  std::shared_ptr<T[]> values;
  bool is_on_disk = false;
};
template <typename T>
ScratchArray<T> scratch_array(const std::string& what, std::int64_t count,
                              const RunControl& control, double share = 0.5) {
  ScratchBytes taken = scratch_bytes(what, checked_product(count, sizeof(T)), control, share);
  auto* const first = reinterpret_cast<T*>(taken.bytes.get());
  return {std::shared_ptr<T[]>(std::move(taken.bytes), first), taken.is_on_disk};
}

/// Where such files are made: RunControl::scratch_folder, or $TMPDIR, or /var/tmp, which is on a
/// disk where /tmp is in memory.
std::string scratch_folder(const RunControl& control);

/// A file of the folder that nobody else can see; -1: errno says why there is none.
int open_nameless(const std::string& folder);

}  // namespace tamis

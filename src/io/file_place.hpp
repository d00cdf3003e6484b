// Where a file lies among those that are read together, and what part of it a rank reads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tamis/group.hpp"

namespace tamis {

/// Bytes of the files in front of it, and of all files; 0 and 0: there is no other.
struct FilePlace {
  std::int64_t before = 0;
  std::int64_t total = 0;
};

/// Where the part of `rank` begins among `count` things that all ranks share.
inline std::int64_t share_begin(std::int64_t count, int rank, int ranks) {
  return count / ranks * rank + count % ranks * rank / ranks;
}

/// Where the part of `rank` begins in this file, of `size` bytes.
inline std::int64_t share_begin(FilePlace place, std::int64_t size, int rank, int ranks) {
  const std::int64_t total = place.total == 0 ? size : place.total;
  return std::clamp<std::int64_t>(share_begin(total, rank, ranks) - place.before, 0, size);
}

}  // namespace tamis

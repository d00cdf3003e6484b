// Arrays of floats that are never cleared, in large pages where they are large: rows that lie far
// apart then do not wait for the tables that find their pages.
#pragma once

#include <cstdint>
#include <memory>

namespace tamis {

struct ReleaseFloats {
  std::int64_t page_bytes = 0;  ///< 0: ordinary memory
  void* pages = nullptr;
  void operator()(float* memory) const;
};
using PageFloats = std::unique_ptr<float[], ReleaseFloats>;

/// Room for `count` floats, which becomes memory only where it is touched. Throws std::bad_alloc.
PageFloats reserve_floats(std::int64_t count);
/// The same from the heap, which hands out memory that was used before.
PageFloats ordinary_floats(std::int64_t count);

}  // namespace tamis

#include "base/page_memory.hpp"

#include "base/checked.hpp"
#include "base/platform.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kLargePage = std::int64_t{2} << 20;  // bytes

}  // namespace

void ReleaseFloats::operator()(float* memory) const {
  if (page_bytes == 0)
    delete[] memory;
  else
    release_pages(pages, usize(page_bytes));
}

PageFloats reserve_floats(std::int64_t count) {
  const std::int64_t bytes = checked_product(count, static_cast<std::int64_t>(sizeof(float)));
  if (bytes < kLargePage) return ordinary_floats(count);
  // One page more, so that the array begins where a large page does.
  const std::int64_t page_bytes = bytes + kLargePage;
  void* const pages = reserve_pages(usize(page_bytes));
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  const auto aligned = round_up(static_cast<std::int64_t>(address), kLargePage);
  return {reinterpret_cast<float*>(static_cast<std::byte*>(pages) +
                                   (aligned - static_cast<std::int64_t>(address))),
          {page_bytes, pages}};
}

PageFloats ordinary_floats(std::int64_t count) { return {new float[usize(count)], {}}; }

}  // namespace tamis

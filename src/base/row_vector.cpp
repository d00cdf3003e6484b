#include "base/row_vector.hpp"

#include <new>
#include <string>
#include <utility>

#include "base/memory.hpp"
#include "base/scratch.hpp"

namespace tamis {
namespace {

constexpr std::size_t kSmallBytes = std::size_t{1} << 20;  // always from the heap
constexpr std::align_val_t kAlignment{64};
// In front of a large piece: who keeps it, or nothing if it is from the heap.
using Keeper = std::shared_ptr<char[]>;
constexpr std::size_t kHeaderBytes = 64;
static_assert(sizeof(Keeper) <= kHeaderBytes);

}  // namespace

struct RowStore::Files {
  std::int64_t memory_bytes = 0;
  std::string folder;
};

RowStore RowStore::for_bytes(std::int64_t bytes, const RunControl& control) {
  RowStore store;
  if (bytes > memory_left(control.memory_bytes))
    store.files_ =
        std::make_shared<const Files>(Files{control.memory_bytes, control.scratch_folder});
  return store;
}

void* RowStore::allocate(std::size_t bytes, std::size_t alignment) const {
  if (bytes < kSmallBytes && alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    return ::operator new(bytes);
  if (bytes < kSmallBytes) return ::operator new(bytes, kAlignment);
  if (bytes > SIZE_MAX - kHeaderBytes) throw std::bad_alloc();
  Keeper keeper;
  char* memory = nullptr;
  if (files_ == nullptr) {
    memory = static_cast<char*>(::operator new(bytes + kHeaderBytes, kAlignment));
  } else {
    RunControl control;
    control.memory_bytes = files_->memory_bytes;
    control.scratch_folder = files_->folder;
    keeper = scratch_bytes("a number for each row", static_cast<std::int64_t>(bytes + kHeaderBytes),
                           control, 0)
                 .bytes;
    memory = keeper.get();
  }
  new (memory) Keeper(std::move(keeper));
  return memory + kHeaderBytes;
}

void RowStore::release(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes < kSmallBytes) {
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      ::operator delete(memory);
    else
      ::operator delete(memory, kAlignment);
    return;
  }
  char* const begin = static_cast<char*>(memory) - kHeaderBytes;
  auto* const header = std::launder(reinterpret_cast<Keeper*>(begin));
  const Keeper keeper = std::move(*header);  // it lies in what it keeps
  header->~Keeper();
  if (keeper == nullptr) ::operator delete(begin, kAlignment);
}

}  // namespace tamis

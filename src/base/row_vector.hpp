// Vectors with a number for each row, which need not fit into memory: std::vector, whose memory is
// the heap or, where the budget leaves no room for all of them, scratch files (base/scratch.hpp).
// Where they lie changes no result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/control.hpp"

namespace tamis {

/// Where such vectors lie.
class RowStore {
 public:
  /// On the heap.
  RowStore() = default;
  /// In scratch files of the folder of `control`, if `bytes`, for all vectors together, are more
  /// than its budget leaves.
  static RowStore for_bytes(std::int64_t bytes, const RunControl& control);

  bool is_on_disk() const { return files_ != nullptr; }
  /// Alignment up to 64. Throws ResourceError if the folder cannot take it.
  void* allocate(std::size_t bytes, std::size_t alignment) const;
  /// Of any store.
  static void release(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

 private:
  struct Files;
  std::shared_ptr<const Files> files_;  // null: the heap
};

/// Copies of a vector lie where the vector lies.
template <typename T>
class RowAllocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;  // memory knows by itself how it is released
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  RowAllocator() = default;
  RowAllocator(RowStore store) : store_(std::move(store)) {}  // NOLINT: that is all it is
  template <typename U>
  RowAllocator(const RowAllocator<U>& other) : store_(other.store()) {}  // NOLINT

  RowStore store() const { return store_; }  // by value: get_allocator() returns a copy
  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(store_.allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    RowStore::release(memory, count * sizeof(T), alignof(T));
  }
  bool operator==(const RowAllocator&) const { return true; }

 private:
  RowStore store_;
};

template <typename T>
using RowVector = std::vector<T, RowAllocator<T>>;

/// A copy on the heap.
template <typename T>
std::vector<T> on_heap(const RowVector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace tamis

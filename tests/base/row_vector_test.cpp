#include "base/row_vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>

#include "base/memory.hpp"
#include "support/resident_growth.hpp"
#include "tamis/dataset.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

constexpr std::size_t kMany = 3'000'000;  // 24 MB of doubles

RunControl small_budget() {
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (8 << 20);
  return control;
}

RowStore on_disk() { return RowStore::for_bytes(std::int64_t{1} << 40, small_budget()); }

struct alignas(64) Wide {
  double value = 1;
};

TEST(RowStore, GoesToDiskWhereTheBudgetLeavesNoRoom) {
  EXPECT_FALSE(RowStore().is_on_disk());
  EXPECT_FALSE(RowStore::for_bytes(1 << 20, small_budget()).is_on_disk());
  EXPECT_TRUE(RowStore::for_bytes(1 << 26, small_budget()).is_on_disk());
}

TEST(RowVector, OnDiskTakesNoMemory) {
  RowVector<double> warm(kMany, 1.0, on_disk());  // what the first file brings along
  const std::int64_t before = resident_memory_bytes();
  RowVector<double> values(kMany, 2.5, on_disk());
  EXPECT_LT(resident_growth(before), 4 << 20);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), 2.5 * kMany);
  const RowVector<double> heap(kMany, 2.5);
  EXPECT_GT(resident_memory_bytes() - before, 20 << 20);
  EXPECT_EQ(values, heap);
}

TEST(RowVector, BehavesAsAVector) {
  for (const RowStore& store : {RowStore(), on_disk()}) {
    RowVector<Index> values(store);
    for (Index i = 0; i < 500'000; ++i) values.push_back(i);  // from small to large
    RowVector<Index> copy = values;
    EXPECT_EQ(copy.get_allocator().store().is_on_disk(), store.is_on_disk());
    copy[7] = -1;
    EXPECT_EQ(values[7], 7);
    RowVector<Index> moved = std::move(copy);
    EXPECT_EQ(moved[7], -1);
    RowVector<Index> heap(10, 3);
    heap = moved;  // lies where the other lies
    EXPECT_EQ(heap.get_allocator().store().is_on_disk(), store.is_on_disk());
    heap.swap(values);
    EXPECT_EQ(heap[7], 7);
    EXPECT_EQ(values[7], -1);
    values.clear();
    values.shrink_to_fit();
    EXPECT_EQ(on_heap(heap).size(), 500'000U);
  }
}

TEST(RowVector, IsAligned) {
  for (const std::size_t count : {3U, 100'000U}) {
    for (const RowStore& store : {RowStore(), on_disk()}) {
      const RowVector<Wide> values(count, store);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0U);
      EXPECT_EQ(values.back().value, 1);
    }
  }
}

TEST(RowVector, AFolderThatCannotTakeItIsAnError) {
  RunControl control = small_budget();
  control.scratch_folder = "/nowhere";
  const RowStore store = RowStore::for_bytes(1 << 26, control);
  try {
    const RowVector<double> values(kMany, store);
    FAIL() << "there is no such folder";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tamis::testing

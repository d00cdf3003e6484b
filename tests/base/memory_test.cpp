#include "base/memory.hpp"

#include <gtest/gtest.h>

#include "base/parallel.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

TEST(Bytes, ParsesUnits) {
  EXPECT_EQ(parse_bytes("1000000"), 1000000);
  EXPECT_EQ(parse_bytes("256M"), 256LL << 20);
  EXPECT_EQ(parse_bytes("4G"), 4LL << 30);
  EXPECT_EQ(parse_bytes("1.5GiB"), 3LL << 29);
  EXPECT_EQ(parse_bytes("2kB"), 2048);
  for (const char* bad : {"", "x", "-1", "0", "4X", "1e30", "nan", "4 G", "4GG"}) {
    EXPECT_THROW(parse_bytes(bad), InvalidArgument) << bad;
  }
}

TEST(Bytes, FormatsForPeople) {
  EXPECT_EQ(format_bytes(900), "900 B");
  EXPECT_EQ(format_bytes(3LL << 29), "1.5 GiB");
}

TEST(Memory, IsMeasured) {
  EXPECT_GT(resident_memory_bytes(), 0);
  EXPECT_GE(peak_memory_bytes(), resident_memory_bytes() / 2);
  EXPECT_GT(available_memory_bytes(), 0);
  EXPECT_EQ(resolve_memory_budget(12345), 12345);
  EXPECT_THROW(require_memory("the cache", 2, 1), ResourceError);
  EXPECT_NO_THROW(require_memory("the cache", 1, 1));
  EXPECT_GE(memory_left(1), 1 << 20);
  EXPECT_NO_THROW(require_column_memory("work", 10, 4, 40));
  EXPECT_THROW(require_column_memory("work", 10, 4, 39), ResourceError);
  EXPECT_THROW(require_column_memory("work", 1LL << 62, 4, 1LL << 62), ResourceError);
}

TEST(Threads, AreResolved) {
  EXPECT_GE(available_threads(), 1);
  EXPECT_EQ(resolve_threads(3), 3);
  EXPECT_EQ(resolve_threads(0), available_threads());
  EXPECT_THROW(resolve_threads(-1), InvalidArgument);
}

}  // namespace
}  // namespace tamis

// Built twice: with the library, and with TAMIS_PORTABLE_PLATFORM for the fallbacks of other
// systems.
#include "base/platform.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace tamis {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

#if defined(__linux__) && !defined(TAMIS_PORTABLE_PLATFORM)
constexpr bool kLinux = true;
#else
constexpr bool kLinux = false;
#endif

TEST(Platform, CpusAreAtLeastOneAndAtMostThoseOfTheMachine) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_CONF))));
}

TEST(Platform, AvailableMemoryIsPositiveAndBelowThatOfTheMachine) {
  const std::int64_t all =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  EXPECT_GT(machine_available_bytes(), 0);
  EXPECT_LE(machine_available_bytes(), all);
  EXPECT_GE(group_available_bytes(), 0);
}

TEST(Platform, ReservedPagesAreZeroAndCountOnceTheyAreTouched) {
  constexpr std::int64_t kBytes = 64 * kMiB;
  const std::int64_t mapped_before = mapped_bytes();
  auto* const memory = static_cast<unsigned char*>(reserve_pages(kBytes));
  if (kLinux) {
    EXPECT_GE(mapped_bytes(), mapped_before + kBytes);
  }
  bool all_zero = true;
  for (std::int64_t i = 0; i < kBytes; i += 4096) {
    all_zero = all_zero && memory[i] == 0;
    memory[i] = 1;
  }
  EXPECT_TRUE(all_zero);
  // Each page was written to, so all of them are resident at once; the fallback knows the peak
  // only.
  EXPECT_GE(resident_bytes(), kBytes);
  EXPECT_GE(peak_resident_bytes(), kBytes);
  release_pages(memory, kBytes);
  EXPECT_GE(peak_resident_bytes(), kBytes);
  if (kLinux) {
    EXPECT_LT(mapped_bytes(), mapped_before + kBytes);
  }
}

TEST(Platform, MoreThanTheAddressSpaceThrows) {
  EXPECT_THROW(reserve_pages(std::size_t{1} << 62), std::bad_alloc);
}

TEST(Platform, ReadingAheadIsAHint) {
  const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  will_read(descriptor);
  will_read(-1);
  close(descriptor);
}

}  // namespace
}  // namespace tamis

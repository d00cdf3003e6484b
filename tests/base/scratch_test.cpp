// Arrays in memory or on disk, and disks that are full.
#include "base/scratch.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.hpp"
#include "support/resident_growth.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kBytes = 64 << 20;

RunControl budget(std::int64_t left, const std::string& folder) {
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + left;
  control.scratch_folder = folder;
  return control;
}

TEST(Scratch, IsMemoryWhereTheBudgetAllows) {
  const ScratchBytes taken = scratch_bytes("it", kBytes, budget(3 * kBytes, "/nowhere"));
  EXPECT_FALSE(taken.is_on_disk);
  EXPECT_EQ(taken.bytes[0], 0);
  taken.bytes[kBytes - 1] = 1;
}

TEST(Scratch, IsAFileWhereItDoesNot) {
  const std::string folder = testing::TempDir();
  const std::int64_t before = resident_memory_bytes();
  const auto taken = scratch_array<float>("it", kBytes / 4, budget(kBytes / 2, folder));
  EXPECT_TRUE(taken.is_on_disk);
  for (std::int64_t i = 0; i < kBytes / 4; ++i) {
    ASSERT_EQ(taken.values[i], 0);
    taken.values[i] = static_cast<float>(i);
  }
  for (std::int64_t i = 0; i < kBytes / 4; ++i) ASSERT_EQ(taken.values[i], static_cast<float>(i));
  EXPECT_LT(resident_growth(before), kBytes / 4);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(entry.path().string().find("tamis-scratch"), std::string::npos);
}

TEST(Scratch, RunsInOneFolderDoNotMeet) {
  const RunControl control = budget(kBytes / 2, testing::TempDir());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&control, t] {
      const auto taken = scratch_array<int>("it", kBytes / 16, control);
      for (std::int64_t i = 0; i < kBytes / 16; ++i) taken.values[i] = t;
      for (std::int64_t i = 0; i < kBytes / 16; ++i) ASSERT_EQ(taken.values[i], t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::string error_of(std::int64_t bytes, const RunControl& control) {
  try {
    scratch_bytes("the copy", bytes, control);
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "";
}

TEST(Scratch, SaysWhatIsMissing) {
  const std::string no_folder = error_of(kBytes, budget(kBytes / 2, "/nowhere"));
  EXPECT_EQ(
      no_folder.find("the copy needs " + format_bytes(kBytes) + ", but the memory budget leaves "),
      0U)
      << no_folder;
  EXPECT_NE(no_folder.find("the scratch folder /nowhere cannot take it: No such file"),
            std::string::npos)
      << no_folder;
  const std::string too_large = error_of(std::int64_t{1} << 60, budget(0, testing::TempDir()));
  EXPECT_NE(too_large.find(" left; raise the budget, or name a scratch folder with more space"),
            std::string::npos)
      << too_large;
}

// As on a full disk: the space is asked for before anything is written.
TEST(Scratch, FullDiskIsAnErrorBeforeTheWorkBegins) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of(kBytes, budget(kBytes / 2, testing::TempDir()));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, previous);
  EXPECT_NE(error.find("cannot take it: File too large"), std::string::npos) << error;
}

// A folder in memory would only hide what is used.
TEST(Scratch, FoldersInMemoryAreRefused) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP();
  const std::string error = error_of(kBytes, budget(kBytes / 2, "/dev/shm"));
  EXPECT_NE(error.find("it lies in memory (tmpfs)"), std::string::npos) << error;
}

}  // namespace
}  // namespace tamis

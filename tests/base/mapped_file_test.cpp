// Mapped files: what is read, what does not count as memory, and files that change meanwhile.
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.hpp"
#include "base/platform.hpp"
#include "support/resident_growth.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

class OpenFile {
 public:
  explicit OpenFile(std::size_t bytes, char fill = 'x') {
    fd_ = mkstemp(name_.data());
    const std::string text(bytes, fill);
    EXPECT_EQ(write(fd_, text.data(), text.size()), std::ssize(text));
    // Else the next change may fall into the same tick of the file system's clock.
    const timespec past[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    EXPECT_EQ(futimens(fd_, past), 0);
  }
  ~OpenFile() {
    close(fd_);
    unlink(name_.c_str());
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_ = testing::TempDir() + "tamis-mapped-XXXXXX";
  int fd_ = -1;
};

long sum(std::string_view bytes) { return std::accumulate(bytes.begin(), bytes.end(), 0L); }

constexpr std::size_t kMany = 3'000'001;  // not a whole number of pages

TEST(MappedFile, ShowsTheBytes) {
  const OpenFile file(kMany);
  const auto mapped = MappedFile::map("f", file.fd());
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->bytes().size(), kMany);
  EXPECT_EQ(sum(mapped->bytes()), static_cast<long>(kMany) * 'x');
  EXPECT_NO_THROW(mapped->require_intact());
}

TEST(MappedFile, NothingToMap) {
  const OpenFile file(0);
  EXPECT_FALSE(MappedFile::map("f", file.fd()));
}

TEST(MappedFile, OutlivesItsDescriptorAndItsName) {
  std::shared_ptr<const MappedFile> mapped;
  {
    const OpenFile file(kMany);
    mapped = MappedFile::map("f", file.fd());
  }
  EXPECT_EQ(sum(mapped->bytes()), static_cast<long>(kMany) * 'x');
  EXPECT_NO_THROW(mapped->require_intact());
}

TEST(MappedFile, TruncatedMeanwhileIsAnError) {
  const OpenFile file(kMany);
  const auto mapped = MappedFile::map("rows.npy", file.fd());
  ASSERT_EQ(ftruncate(file.fd(), 10'000), 0);
  // Without the guard, this ends the process (SIGBUS). What is left of the file is still seen.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] { EXPECT_EQ(sum(mapped->bytes()), 10'000L * 'x'); });
  for (std::thread& thread : threads) thread.join();
  try {
    mapped->require_intact();
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              "rows.npy: the file changed while it was read; run again when it is complete");
  }
}

// Zeros in place of what was written would be wrong results.
TEST(MappedFile, LostScratchPagesEndTheProcess) {
  const OpenFile file(kMany);
  const MappedPages pages = map_pages(file.fd(), kMany, true);
  if (pages.begin == nullptr) GTEST_SKIP() << "no mapping here";
  ASSERT_EQ(ftruncate(file.fd(), 0), 0);
  EXPECT_DEATH(pages.begin[0] = 'y', "");
  unmap_pages(pages);
}

TEST(MappedFile, TruncatedAndFilledAgainIsAnError) {
  const OpenFile file(kMany);
  const auto mapped = MappedFile::map("f", file.fd());
  ASSERT_EQ(ftruncate(file.fd(), 0), 0);
  EXPECT_EQ(sum(mapped->bytes()), 0);
  ASSERT_EQ(ftruncate(file.fd(), kMany), 0);
  const timespec past[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(futimens(file.fd(), past), 0);  // the same size and time as before
  EXPECT_FALSE(mapped->is_intact());
}

TEST(MappedFile, WrittenMeanwhileIsAnError) {
  const OpenFile file(kMany);
  const auto mapped = MappedFile::map("f", file.fd());
  ASSERT_EQ(pwrite(file.fd(), "y", 1, 5), 1);
  EXPECT_THROW(mapped->require_intact(), DataError);
}

TEST(MappedFile, OtherFilesStayIntact) {
  const OpenFile one(kMany);
  const OpenFile two(kMany);
  const auto first = MappedFile::map("1", one.fd());
  const auto second = MappedFile::map("2", two.fd());
  ASSERT_EQ(ftruncate(one.fd(), 0), 0);
  EXPECT_EQ(sum(first->bytes()), 0);
  EXPECT_EQ(sum(second->bytes()), static_cast<long>(kMany) * 'x');
  EXPECT_FALSE(first->is_intact());
  EXPECT_TRUE(second->is_intact());
}

// Sanitizers end the process in a way of their own.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// The bus error of somebody else's mapping is none of ours.
TEST(MappedFileDeathTest, ForeignBusErrorsStillEndTheProcess) {
  EXPECT_EXIT(
      {
        const OpenFile file(kMany);
        const auto mapped = MappedFile::map("f", file.fd());
        raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}
#endif

TEST(MappedFile, TakesNoMemoryOfTheBudget) {
  constexpr std::size_t kBytes = 64 << 20;
  const OpenFile file(kBytes);
  const std::int64_t before = resident_memory_bytes();
  const auto mapped = MappedFile::map("f", file.fd());
  EXPECT_EQ(sum(mapped->bytes()), static_cast<long>(kBytes) * 'x');
  EXPECT_LT(resident_growth(before), std::int64_t{kBytes} / 4);
  const std::vector<char> own(kBytes, 'y');
  EXPECT_EQ(sum({own.data(), own.size()}), static_cast<long>(kBytes) * 'y');
  EXPECT_GT(resident_memory_bytes() - before, std::int64_t{kBytes} / 4 * 3);
}

}  // namespace
}  // namespace tamis

#include "base/platform.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <new>
#include <string>
#include <thread>

// Defined by the build, it compiles the fallbacks on Linux too: a test runs them there.
#if defined(__linux__) && !defined(TAMIS_PORTABLE_PLATFORM)
#define TAMIS_ON_LINUX 1
#include <sched.h>
#include <sys/vfs.h>
#else
#define TAMIS_ON_LINUX 0
#endif

namespace tamis {
namespace {

std::int64_t peak_rusage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss);
}

int hardware_cpus() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamp file_stamp(int descriptor) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0) return {};
#ifdef __APPLE__
  const timespec written = info.st_mtimespec;
  const timespec altered = info.st_ctimespec;
#else
  const timespec written = info.st_mtim;
  const timespec altered = info.st_ctim;
#endif
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino),
          static_cast<std::int64_t>(info.st_size), nanoseconds(written), nanoseconds(altered)};
}

std::int64_t disk_space_left(int descriptor) {
  struct statvfs info {};
  if (fstatvfs(descriptor, &info) != 0) return kUnlimitedBytes;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

#if TAMIS_ON_LINUX
namespace {

// The number in a one-line file of /sys, or kUnlimitedBytes ("max" or no such file).
std::int64_t read_limit(const char* path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  return in >> value ? value : kUnlimitedBytes;
}

int affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : hardware_cpus();
}

// cgroup v2: "quota period" in microseconds, or "max period".
int group_cpus() {
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (in >> quota >> period && period > 0) return static_cast<int>(std::ceil(quota / period));
  return std::numeric_limits<int>::max();
}

// Pages of /proc/self/statm: all that is mapped, what is resident, and what of that is shared with
// others: pages of files, and of memory that is shared.
struct ProcessPages {
  std::int64_t mapped = 0;
  std::int64_t resident = 0;
  std::int64_t shared = 0;
};

ProcessPages process_pages() {
  std::ifstream in("/proc/self/statm");
  ProcessPages pages;
  in >> pages.mapped >> pages.resident >> pages.shared;
  return pages;
}

// Of a file of lines "name number"; 0 for names that it does not have.
std::int64_t read_entry(const char* path, std::initializer_list<std::string_view> names) {
  std::ifstream in(path);
  std::string line;
  std::int64_t sum = 0;
  while (std::getline(in, line)) {
    const std::string_view text(line);
    for (const std::string_view name : names) {
      if (text.starts_with(name)) sum += std::strtoll(line.c_str() + name.size(), nullptr, 10);
    }
  }
  return sum;
}

}  // namespace

int usable_cpus() { return std::max(1, std::min(affinity_cpus(), group_cpus())); }

std::int64_t machine_available_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::int64_t kib = 0;
  std::string unit;
  while (in >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(in, unit);
  }
  return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::int64_t group_available_bytes() {
  const std::int64_t limit = read_limit("/sys/fs/cgroup/memory.max");
  if (limit == kUnlimitedBytes) return kUnlimitedBytes;
  // What files are cached is counted as used, though the system gives it back when asked.
  const std::int64_t cached =
      read_entry("/sys/fs/cgroup/memory.stat", {"inactive_file ", "active_file "});
  const std::int64_t used = read_limit("/sys/fs/cgroup/memory.current") - cached;
  return std::max<std::int64_t>(0, limit - std::max<std::int64_t>(0, used));
}

std::int64_t mapped_bytes() { return process_pages().mapped * sysconf(_SC_PAGESIZE); }

// Shared memory is memory all the same: it has no file to go back to.
std::int64_t resident_bytes() {
  const std::int64_t kib = read_entry("/proc/self/status", {"RssAnon:", "RssShmem:"});
  if (kib > 0) return kib * 1024;
  const ProcessPages pages = process_pages();
  return (pages.resident - pages.shared) * sysconf(_SC_PAGESIZE);
}
std::int64_t peak_resident_bytes() { return peak_rusage() * 1024; }

void* reserve_pages(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void will_read(int descriptor) { posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED); }

int take_disk_space(int descriptor, std::int64_t bytes) {
  return posix_fallocate(descriptor, 0, bytes);
}

bool lies_in_memory(int descriptor) {
  constexpr auto kTmpfs = 0x01021994;
  constexpr auto kRamfs = 0x858458f6;
  struct statfs info {};
  if (fstatfs(descriptor, &info) != 0) return false;
  return static_cast<std::uint32_t>(info.f_type) == static_cast<std::uint32_t>(kTmpfs) ||
         static_cast<std::uint32_t>(info.f_type) == static_cast<std::uint32_t>(kRamfs);
}

#else

int usable_cpus() { return hardware_cpus(); }

// What is free is not known: half of what is there, so that the budget stays below it.
std::int64_t machine_available_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
}

std::int64_t group_available_bytes() { return kUnlimitedBytes; }
std::int64_t mapped_bytes() { return 0; }
std::int64_t resident_bytes() { return peak_resident_bytes(); }

std::int64_t peak_resident_bytes() {
#ifdef __APPLE__
  return peak_rusage();  // in bytes there
#else
  return peak_rusage() * 1024;
#endif
}

void* reserve_pages(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void will_read(int) {}

int take_disk_space(int descriptor, std::int64_t bytes) {
  return ftruncate(descriptor, bytes) == 0 ? 0 : errno;
}

bool lies_in_memory(int) { return false; }

// Whoever wants to map reads instead.
MappedPages map_pages(int, std::size_t, bool) { return {}; }
void unmap_pages(const MappedPages&) {}
bool failed_pages(const MappedPages&) { return false; }

#endif

void release_pages(void* memory, std::size_t bytes) { munmap(memory, bytes); }

}  // namespace tamis

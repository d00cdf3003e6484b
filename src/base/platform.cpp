#include "base/platform.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <new>
#include <string>
#include <thread>

// Defined by the build, it compiles the fallbacks on Linux too: a test runs them there.
#if defined(__linux__) && !defined(TAMIS_PORTABLE_PLATFORM)
#define TAMIS_ON_LINUX 1
#include <sched.h>
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

}  // namespace

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

// Pages of /proc/self/statm: all that is mapped, and what is resident.
struct ProcessPages {
  std::int64_t mapped = 0;
  std::int64_t resident = 0;
};

ProcessPages process_pages() {
  std::ifstream in("/proc/self/statm");
  ProcessPages pages;
  in >> pages.mapped >> pages.resident;
  return pages;
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
  return std::max<std::int64_t>(0, limit - read_limit("/sys/fs/cgroup/memory.current"));
}

std::int64_t mapped_bytes() { return process_pages().mapped * sysconf(_SC_PAGESIZE); }
std::int64_t resident_bytes() { return process_pages().resident * sysconf(_SC_PAGESIZE); }
std::int64_t peak_resident_bytes() { return peak_rusage() * 1024; }

void* reserve_pages(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void will_read(int descriptor) { posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED); }

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

#endif

void release_pages(void* memory, std::size_t bytes) { munmap(memory, bytes); }

}  // namespace tamis

// Files in the address space, and what happens when their bytes are no longer there.
#if defined(__linux__) && !defined(TAMIS_PORTABLE_PLATFORM)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "base/platform.hpp"

namespace tamis {

// Never freed, because the handler may look at it at any time; used again when its mapping is gone.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> is_writable{false};
  std::atomic<bool> has_failed{false};
  std::atomic<bool> is_used{false};
  GuardedRange* next = nullptr;
};

namespace {

std::atomic<GuardedRange*> first_range{nullptr};
std::mutex ranges_mutex;  // of whoever adds; the handler reads without it
struct sigaction earlier {};
std::uintptr_t page_bytes = 0;

void hand_over(int signal, siginfo_t* info, void* context) {
  if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    earlier.sa_sigaction(signal, info, context);
  } else if (earlier.sa_handler == SIG_DFL || earlier.sa_handler == SIG_IGN) {
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    sigaction(signal, &plain, nullptr);     // the access is repeated, and ends the process
    if (info->si_code <= 0) raise(signal);  // somebody sent it: there is no access
  } else {
    earlier.sa_handler(signal);
  }
}

// Everything from the fault on becomes zeros at once: behind the end of a truncated file there is
// nothing, and a mapping for each page would use up the number of those that a process may have.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool is_fault = info->si_code > 0;  // else somebody sent it, and there is no address
  for (GuardedRange* range = first_range; is_fault && range != nullptr; range = range->next) {
    const std::uintptr_t end = range->end;
    if (address < range->begin || address >= end) continue;
    // Nobody asks whether what was written is still there: zeros would be wrong results.
    if (range->is_writable) break;
    range->has_failed = true;  // before another thread can read zeros
    const std::uintptr_t page = address / page_bytes * page_bytes;
    // The system call itself: mmap() is not among the functions that a signal handler may call, and
    // the thread sanitizer takes it for a write to all of these pages.
    if (syscall(SYS_mmap, page, end - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == -1)
      break;
    errno = saved;
    return;
  }
  hand_over(signal, info, context);
}

void install_handler() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &earlier);
}

GuardedRange* free_range() {
  const std::lock_guard lock(ranges_mutex);
  if (page_bytes == 0) install_handler();
  for (GuardedRange* range = first_range; range != nullptr; range = range->next) {
    if (range->is_used) continue;
    range->is_used = true;
    range->has_failed = false;
    return range;
  }
  auto* const range = new GuardedRange;
  range->is_used = true;
  range->next = first_range;
  first_range = range;
  return range;
}

}  // namespace

MappedPages map_pages(int descriptor, std::size_t bytes, bool is_writable) {
  if (bytes == 0) return {};
  GuardedRange* const range = free_range();
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | (is_writable ? PROT_WRITE : 0), MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    range->is_used = false;
    return {};
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  range->is_writable = is_writable;
  range->begin = begin;
  range->end = (begin + bytes + page_bytes - 1) / page_bytes * page_bytes;
  return {static_cast<char*>(memory), bytes, range};
}

void unmap_pages(const MappedPages& pages) {
  if (pages.begin == nullptr) return;
  pages.guard->end = 0;
  pages.guard->begin = 0;
  munmap(pages.begin, pages.bytes);
  pages.guard->is_used = false;
}

bool failed_pages(const MappedPages& pages) {
  return pages.guard != nullptr && pages.guard->has_failed;
}

}  // namespace tamis
#endif

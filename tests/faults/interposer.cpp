// Loaded with LD_PRELOAD: makes one call of the C library fail, to see what the program does then.
//   TAMIS_FAULT=KIND:N    the N-th call of a kind fails, from 1
//   TAMIS_FAULT=KIND:N+   that one and all later ones
//   TAMIS_FAULT=KIND:N!   the process is killed at that call; a write has written half by then
//   TAMIS_FAULT=KIND:N~   from that one on, reads and writes do half of what they were asked to
//   TAMIS_FAULT_COUNTS=FILE   at the end of main, a line "KIND calls" for each kind
// Kinds: alloc, write, fsync, rename, open, close, ftruncate, mmap, read. Calls are counted from
// the beginning of main to its end: what the loader does before is not the program's. Nor is what
// it does when oneTBB loads its helpers: the C library's own dlopen crashes when memory runs out
// there.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

enum Kind { kAlloc, kWrite, kFsync, kRename, kOpen, kClose, kFtruncate, kMmap, kRead, kKinds };
constexpr std::array<const char*, kKinds> kNames = {"alloc", "write",     "fsync", "rename", "open",
                                                    "close", "ftruncate", "mmap",  "read"};

std::array<std::atomic<long>, kKinds> counts{};
std::atomic<bool> is_active{false};
thread_local bool is_loading = false;
int failing_kind = -1;
long failing_call = 0;
char mode = '\0';  // what follows N

// What the kind's failure looks like to the program.
int error_of(Kind kind) {
  constexpr std::array<int, kKinds> kErrors = {ENOMEM, ENOSPC, EIO,    EIO, EMFILE,
                                               EIO,    ENOSPC, ENOMEM, EIO};
  return kErrors[kind];
}

// Whether this call, which is counted, is the one that was named (or a later one, if those are
// too).
bool is_hit(Kind kind) {
  if (!is_active.load(std::memory_order_relaxed) || is_loading) return false;
  const long call = counts[kind].fetch_add(1, std::memory_order_relaxed) + 1;
  if (kind != failing_kind) return false;
  return call == failing_call || ((mode == '+' || mode == '~') && call > failing_call);
}

bool must_fail(Kind kind) {
  if (!is_hit(kind) || mode == '~') return false;
  if (mode == '!') std::raise(SIGKILL);
  errno = error_of(kind);
  return true;
}

// A read or write of `size` bytes, by `transfer`.
template <typename Transfer>
ssize_t interposed(Kind kind, std::size_t size, const Transfer& transfer) {
  if (!is_hit(kind)) return transfer(size);
  if (mode == '~') return transfer(size - size / 2);
  if (mode == '!') {
    transfer(size / 2);
    std::raise(SIGKILL);
  }
  errno = error_of(kind);
  return -1;
}

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void read_settings() {
  const char* setting = std::getenv("TAMIS_FAULT");
  const char* colon = setting == nullptr ? nullptr : std::strchr(setting, ':');
  if (colon == nullptr) return;
  for (int kind = 0; kind < kKinds; ++kind) {
    const std::size_t length = std::strlen(kNames[kind]);
    if (length == static_cast<std::size_t>(colon - setting) &&
        std::strncmp(setting, kNames[kind], length) == 0)
      failing_kind = kind;
  }
  char* end = nullptr;
  failing_call = std::strtol(colon + 1, &end, 10);
  mode = *end;
}

void write_counts() {
  const char* path = std::getenv("TAMIS_FAULT_COUNTS");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return;
  for (int kind = 0; kind < kKinds; ++kind)
    std::fprintf(file, "%s %ld\n", kNames[kind], counts[kind].load());
  std::fclose(file);
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int watched_main(int argc, char** argv, char** environment) {
  read_settings();
  is_active = true;
  const int code = program_main(argc, argv, environment);
  is_active = false;
  write_counts();
  return code;
}

}  // namespace

extern "C" {

void* dlopen(const char* file, int flags) {
  static const auto original = real<void* (*)(const char*, int)>("dlopen");
  is_loading = true;
  void* const library = original(file, flags);
  is_loading = false;
  return library;
}

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  return real<Start>("__libc_start_main")(watched_main, argc, argv, init, fini, loader_fini,
                                          stack_end);
}

void* malloc(std::size_t size) { return must_fail(kAlloc) ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return must_fail(kAlloc) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  return must_fail(kAlloc) ? nullptr : __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return must_fail(kAlloc) ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  void* block = memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

ssize_t write(int fd, const void* bytes, std::size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  return interposed(kWrite, size, [&](std::size_t part) { return next(fd, bytes, part); });
}

ssize_t read(int fd, void* bytes, std::size_t size) {
  static const auto next = real<ssize_t (*)(int, void*, std::size_t)>("read");
  return interposed(kRead, size, [&](std::size_t part) { return next(fd, bytes, part); });
}

// Inputs are read at places, and so are the files of cells.
ssize_t pread(int fd, void* bytes, std::size_t size, off_t offset) {
  static const auto next = real<ssize_t (*)(int, void*, std::size_t, off_t)>("pread");
  return interposed(kRead, size, [&](std::size_t part) { return next(fd, bytes, part, offset); });
}

ssize_t pread64(int fd, void* bytes, std::size_t size, off64_t offset) {
  return pread(fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  return interposed(kWrite, size, [&](std::size_t part) { return next(fd, bytes, part, offset); });
}

ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off64_t offset) {
  return pwrite(fd, bytes, size, offset);
}

int fsync(int fd) {
  static const auto next = real<int (*)(int)>("fsync");
  return must_fail(kFsync) ? -1 : next(fd);
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return must_fail(kRename) ? -1 : next(from, to);
}

int open(const char* path, int flags, ...) {
  static const auto next = real<int (*)(const char*, int, ...)>("open");
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return must_fail(kOpen) ? -1 : next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}

// As the system does it: the descriptor is gone, what was written may not be on the disk.
int close(int fd) {
  static const auto next = real<int (*)(int)>("close");
  const bool fails = must_fail(kClose);
  const int result = next(fd);
  if (!fails) return result;
  errno = error_of(kClose);
  return -1;
}

int ftruncate(int fd, off_t size) noexcept {
  static const auto next = real<int (*)(int, off_t)>("ftruncate");
  return must_fail(kFtruncate) ? -1 : next(fd, size);
}

void* mmap(void* place, std::size_t size, int protection, int flags, int fd,
           off_t offset) noexcept {
  static const auto next = real<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
  return must_fail(kMmap) ? MAP_FAILED : next(place, size, protection, flags, fd, offset);
}

void* mmap64(void* place, std::size_t size, int protection, int flags, int fd,
             off_t offset) noexcept {
  return mmap(place, size, protection, flags, fd, offset);
}
}

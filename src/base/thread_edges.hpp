// What ThreadSanitizer cannot see by itself: Debian's oneTBB is not instrumented, so the order it
// gives to "before the loop, in the loop, after the loop" has to be told. Nothing is told about two
// branches of one loop, so a race between them is still found. Empty in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define TAMIS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TAMIS_THREAD_SANITIZER 1
#endif
#endif

#ifdef TAMIS_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);  // NOLINT(bugprone-reserved-identifier)
void __tsan_release(void* address);  // NOLINT(bugprone-reserved-identifier)
}
#endif

namespace tamis {

#ifdef TAMIS_THREAD_SANITIZER
inline void tsan_acquire(const void* place, int which) {
  __tsan_acquire(const_cast<char*>(static_cast<const char*>(place)) + which);
}
inline void tsan_release(const void* place, int which) {
  __tsan_release(const_cast<char*>(static_cast<const char*>(place)) + which);
}
#else
inline void tsan_acquire(const void* /*place*/, int /*which*/) {}
inline void tsan_release(const void* /*place*/, int /*which*/) {}
#endif

/// Lives around a parallel construct, in the thread that starts it and waits for it. `closure` is
/// what the branches run: complete before, and known to them without reading memory that this
/// thread wrote. It gives two addresses, for through one a branch that starts after another has
/// ended would look ordered behind it.
class Fork {
 public:
  explicit Fork(const void* closure) : closure_(closure) { tsan_release(closure_, 0); }
  /// What the branches wrote is visible, also when an exception ends the construct.
  ~Fork() { tsan_acquire(closure_, 1); }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

 private:
  const void* closure_;
};

/// Lives around one branch, in whichever thread runs it.
class Branch {
 public:
  explicit Branch(const void* closure) : closure_(closure) { tsan_acquire(closure_, 0); }
  ~Branch() { tsan_release(closure_, 1); }
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

 private:
  const void* closure_;
};

}  // namespace tamis

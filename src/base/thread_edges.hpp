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

/// Lives around a parallel construct, in the thread that starts it and waits for it.
class ForkJoin {
 public:
#ifdef TAMIS_THREAD_SANITIZER
  ForkJoin() { __tsan_release(&fork_); }
  /// Also when an exception leaves the construct.
  ~ForkJoin() { join(); }
  /// After the construct: what the branches wrote is visible.
  void join() { __tsan_acquire(&join_); }
#else
  ForkJoin() = default;
  void join() {}
#endif
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  /// Lives around one branch, in whichever thread runs it.
  class Branch {
   public:
#ifdef TAMIS_THREAD_SANITIZER
    explicit Branch(ForkJoin& edges) : edges_(edges) { __tsan_acquire(&edges_.fork_); }
    ~Branch() { __tsan_release(&edges_.join_); }

   private:
    ForkJoin& edges_;
#else
    explicit Branch(const ForkJoin& /*edges*/) {}
    ~Branch() {}  // not trivial, so that an unused branch is no warning
#endif
   public:
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;
  };

 private:
#ifdef TAMIS_THREAD_SANITIZER
  // Two addresses: through one, a branch that starts after another has ended would look ordered
  // behind it.
  char fork_ = 0;
  char join_ = 0;
#endif
};

}  // namespace tamis

#include "out_of_memory.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "command.hpp"

namespace tamis::cli {
namespace {

// Far more than messages and reports take.
constexpr std::size_t kReserveBytes = std::size_t{1} << 20;
std::atomic<void*> reserve{nullptr};

// The first time, what is asked for is looked for again, with the reserve given back.
void give_back_reserve() {
  void* block = reserve.exchange(nullptr);
  if (block == nullptr) throw std::bad_alloc();
  std::free(block);
}

// Not by stdio, which may have been interrupted. Files not yet in place are left to the next run.
[[noreturn]] void end_without_memory() {
  for (const char* part : {"tamis: ", kOutOfMemory, "\n"}) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  _exit(kExitError);
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
    std::abort();
  }
  std::abort();
}

}  // namespace

void prepare_for_lack_of_memory() {
  reserve = std::malloc(kReserveBytes);
  std::set_new_handler(give_back_reserve);
  std::set_terminate(on_terminate);
}

}  // namespace tamis::cli

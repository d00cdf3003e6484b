// Any file is unpacked, or is an error, within the memory budget: gzip, xz, bzip2 and zstd.
#include "io/input_bytes.hpp"
#include "memory_file.hpp"
#include "tamis/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  constexpr std::int64_t kBudget = std::int64_t{8} << 20;
  RunControl control;
  control.memory_bytes = kBudget;
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    const InputBytes read = read_input(file.path(), control);
    fuzz::require(read.heap_bytes <= kBudget, "more bytes than the budget");
    std::size_t sum = 0;
    for (const char c : read.bytes) sum += static_cast<unsigned char>(c);
    fuzz::require(sum <= read.bytes.size() * 255, "every byte can be read");
  } catch (const Error&) {
  }
  return 0;
}

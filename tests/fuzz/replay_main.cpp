// Runs a fuzz target without a fuzzer, on every file of the folders and files given. The name of
// the file under way is printed when the process ends badly.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Only fuzzers change inputs; the targets' mutators are linked, but not called.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size,
                                        std::size_t /*most*/) {
  return size;
}

namespace {

std::string under_way;

extern "C" void tell_input(int signal) {
  const ssize_t told = write(STDERR_FILENO, under_way.data(), under_way.size());
  std::signal(signal, SIG_DFL);
  std::raise(told < 0 ? SIGKILL : signal);
}

void run(const std::filesystem::path& path) {
  under_way = "replay: " + path.string() + "\n";
  std::ifstream in(path, std::ios::binary);
  // A block of exactly this size, so that a sanitizer sees any byte read beyond.
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) {
      std::printf("replay: there is no %s\n", argv[i]);
      return 1;
    }
    if (!std::filesystem::is_directory(argv[i]))
      paths.emplace_back(argv[i]);
    else
      for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
        paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, tell_input);
  for (const auto& path : paths) run(path);
  std::printf("%zu inputs\n", paths.size());
  return paths.empty() ? 1 : 0;
}

// Runs the fuzzing entry point without libFuzzer: replays the files given, or a built-in corpus and
// random mutations of it for some seconds. Usage: read_replay [--seconds N] [FILE...]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  // A block of exactly this size, so that a sanitizer sees any byte read beyond.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

const std::vector<std::string>& corpus() {
  static const std::vector<std::string> inputs = {
      "\x02"
      "1 1:0.5 3:-2e-1 # c\n\n-1 qid:3 2:.25\r\n1 7:1e38",
      "\x02"
      "cat 1:1\ndog 2:2\n",
      "\x06"
      "0:1 2:3\n1:5\n",
      "\x02"
      "1 2147483646:1\n1 1:123456789012345678901234567890e-20\n",
      std::string("\x00", 1) + "a,\"b \"\"c\"\"\",label\n1,2,x\n-3,\"4\",\"y,z\"\r\n",
      "\x10"
      "1;2;3\n4;5;6",
      "\x20"
      "w\tx\tlabel\n1\t2\t3\n",
      std::string("\x01\x93NUMPY\x01\x00\x39\x00", 11) +
          "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}\n" +
          std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8),
  };
  return inputs;
}

std::string mutate(std::string input, std::mt19937_64& random) {
  static const std::string tokens = "\n\r\t :#,;\"'-+.eE0123456789nanif()[]{}<>|UfiObS";
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t changes = 1 + below(6); changes > 0; --changes) {
    const std::size_t at = below(input.size());
    const char byte = below(3) == 0 ? static_cast<char>(random()) : tokens[below(tokens.size())];
    switch (below(5)) {
      case 0:
        input[at] = byte;
        break;
      case 1:
        input.insert(at, 1 + below(3), byte);
        break;
      case 2:
        input.erase(at, 1 + below(4));
        break;
      case 3:
        input += input.substr(at, below(40));
        break;
      default:
        input.resize(at + 1);
        break;
    }
    if (input.empty()) input = "\x02";
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 3;
  bool replayed = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::stod(argv[++i]);
      continue;
    }
    std::ifstream in(argv[i], std::ios::binary);
    run({std::istreambuf_iterator<char>(in), {}});
    replayed = true;
  }
  if (replayed) return 0;
  for (const std::string& input : corpus()) run(input);
  std::mt19937_64 random(20240607);
  std::int64_t count = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++count) {
    std::string input = mutate(corpus()[random() % corpus().size()], random);
    std::ofstream("read_replay.last", std::ios::binary) << input;  // what to replay after a crash
    run(input);
  }
  std::printf("%lld inputs\n", static_cast<long long>(count));
  return 0;
}

// How fast text becomes a Dataset, from a file in the page cache, beside the speed at which the
// same bytes can be summed and copied at all. "of_sum" is the share of the summing speed with as
// many threads.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "tamis/io.hpp"

namespace {

using namespace tamis;

constexpr std::size_t kTextBytes = std::size_t{100} << 20;

enum Kind { svmlight_dense, svmlight_sparse, svmlight_binary, csv, csv_long };
constexpr Kind kKinds[] = {svmlight_dense, svmlight_sparse, svmlight_binary, csv, csv_long};

// Rows like those of ijcnn1 (every feature, six decimals), mnist (one in five of 784, whole
// numbers) and a9a (14 of 123, all one), a table of measurements, and one of doubles with all their
// digits.
void append_row(Kind kind, std::mt19937& random, std::string& out) {
  char buffer[64];
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const auto add = [&](const char* format, auto... values) {
    out.append(buffer,
               static_cast<std::size_t>(std::snprintf(buffer, sizeof buffer, format, values...)));
  };
  if (kind == svmlight_dense) {
    out += below(2) != 0 ? "1" : "-1";
    for (int j = 1; j <= 22; ++j) add(" %d:%f", j, below(2000001) * 1e-6 - 1);
  } else if (kind == svmlight_sparse) {
    add("%d", below(10));
    for (int j = 1 + below(9); j <= 784; j += 1 + below(9)) add(" %d:%d", j, 1 + below(255));
  } else if (kind == svmlight_binary) {
    out += below(2) != 0 ? "+1" : "-1";
    for (int j = 1 + below(16); j <= 123; j += 1 + below(16)) add(" %d:1", j);
  } else if (kind == csv_long) {
    for (int j = 0; j < 20; ++j) add("%.17g,", below(2000001) / 2000003.0);
    add("%d", below(3));
  } else {
    for (int j = 0; j < 20; ++j) add("%.5g,", below(2000001) * 1e-4);
    add("%d", below(3));
  }
  out += '\n';
}

struct TextFile {
  std::string path;
  std::size_t bytes = 0;
};

TextFile files[std::size(kKinds)];

const TextFile& text_file(Kind kind) {
  TextFile& file = files[kind];
  if (file.path.empty()) {
    std::mt19937 random(1);
    std::string block;
    while (block.size() < kTextBytes / 8) append_row(kind, random, block);
    file.path = std::filesystem::temp_directory_path() /
                ("tamis-reader-bench-" + std::to_string(kind) + (kind >= csv ? ".csv" : ".txt"));
    std::ofstream out(file.path, std::ios::binary);
    for (int copy = 0; copy < 8; ++copy) out << block;
    file.bytes = block.size() * 8;
  }
  return file;
}

// Bytes a second that `threads` threads can read and sum up.
double sum_speed(int threads) {
  static const std::vector<std::uint64_t> words(kTextBytes / 8, 1);
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Stopwatch watch;
    auto sum = with_threads(threads, [&] {
      return tbb::parallel_reduce(
          tbb::blocked_range<std::size_t>(0, words.size(), 65536), std::uint64_t{0},
          [](const auto& range, std::uint64_t start) {
            return std::accumulate(words.begin() + static_cast<std::ptrdiff_t>(range.begin()),
                                   words.begin() + static_cast<std::ptrdiff_t>(range.end()), start);
          },
          std::plus<>());
    });
    benchmark::DoNotOptimize(sum);
    best = std::max(best, static_cast<double>(kTextBytes) / watch.seconds());
  }
  return best;
}

void read(benchmark::State& state, Kind kind) {
  const TextFile& file = text_file(kind);
  RunControl control;
  control.threads = static_cast<int>(state.range(0));
  double best = 0;
  for (auto _ : state) {
    const Stopwatch watch;
    benchmark::DoNotOptimize(read_dataset(file.path, {}, control));
    best = std::max(best, static_cast<double>(file.bytes) / watch.seconds());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(file.bytes) * state.iterations());
  state.counters["best_MB_s"] = best / 1e6;
  state.counters["of_sum"] = best / sum_speed(control.threads);
}

void memory_sum(benchmark::State& state) {
  double best = 0;
  for (auto _ : state) best = std::max(best, sum_speed(static_cast<int>(state.range(0))));
  state.counters["best_MB_s"] = best / 1e6;
}

void memory_copy(benchmark::State& state) {
  const std::vector<char> from(kTextBytes, 'x');
  std::vector<char> to(kTextBytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kTextBytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kTextBytes) * state.iterations());
}

void remove_files() {
  for (const Kind kind : kKinds) {
    std::error_code error;
    if (!files[kind].path.empty()) std::filesystem::remove(files[kind].path, error);
  }
}

BENCHMARK(memory_copy)->Unit(benchmark::kMillisecond);
BENCHMARK(memory_sum)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
void both(benchmark::internal::Benchmark* bench) {
  bench->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK_CAPTURE(read, svmlight_dense, svmlight_dense)->Apply(both);
BENCHMARK_CAPTURE(read, svmlight_sparse, svmlight_sparse)->Apply(both);
BENCHMARK_CAPTURE(read, svmlight_binary, svmlight_binary)->Apply(both);
BENCHMARK_CAPTURE(read, csv, csv)->Apply(both);
BENCHMARK_CAPTURE(read, csv_long, csv_long)->Apply(both);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  remove_files();
}

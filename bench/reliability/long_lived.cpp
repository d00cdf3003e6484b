// A process that lives long: trains, saves, loads and predicts with every method, over and over,
// and watches its own memory and open files. Usage: long_lived SECONDS. Exit code 1 when they grow.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tamis/error.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace {

struct State {
  std::int64_t resident_bytes = 0;
  std::int64_t open_files = 0;
  std::int64_t threads = 0;
};

std::int64_t count_entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

State read_state() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  in >> total >> resident;
  in.close();
  return {resident * sysconf(_SC_PAGESIZE), count_entries("/proc/self/fd"),
          count_entries("/proc/self/task")};
}

tamis::TrainOptions options_of(std::string_view method, std::uint64_t seed) {
  tamis::TrainOptions options;
  options.method = method;
  options.gamma = 100.0;
  options.cost = 10;
  options.seed = seed;
  options.local.k = 50;
  options.local.k_grid = {50};
  return options;
}

// Every method once. A hard margin has no answer for these classes, and says so.
void one_round(const tamis::Dataset& data, const std::string& path, std::uint64_t seed) {
  for (const std::string_view method : tamis::method_names()) {
    try {
      const auto trained = tamis::train(data, options_of(method, seed));
      tamis::save_model(trained.model, path);
      const tamis::Model loaded = tamis::load_model(path);
      if (!(tamis::predict(loaded, data.features()) ==
            tamis::predict(trained.model, data.features())))
        throw std::runtime_error(fmt::format("{}: the loaded model predicts otherwise", method));
    } catch (const tamis::DataError&) {
      if (method != "opt-margin") throw;
    }
  }
}

void print(double seconds, std::int64_t rounds, const State& state) {
  fmt::print("{:6.0f} s {:8} rounds {:8.1f} MiB {:4} open files {:4} threads\n", seconds, rounds,
             static_cast<double>(state.resident_bytes) / (1 << 20), state.open_files,
             state.threads);
  std::fflush(stdout);
}

int watch(double limit, const tamis::Dataset& data, const std::string& path) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  // By a quarter of the time, whatever grows to a constant size has done so.
  State settled;
  std::int64_t rounds = 0;
  double next_print = 0;
  while (seconds() < limit) {
    one_round(data, path, static_cast<std::uint64_t>(++rounds));
    if (rounds == 1 || seconds() < limit / 4) settled = read_state();
    if (seconds() < next_print) continue;
    print(seconds(), rounds, read_state());
    next_print = seconds() + limit / 20;
  }
  const State last = read_state();
  print(seconds(), rounds, last);
  const bool grew =
      last.resident_bytes > settled.resident_bytes + settled.resident_bytes / 10 + (4 << 20) ||
      last.open_files > settled.open_files || last.threads > settled.threads;
  fmt::print("{}\n", grew ? "GREW" : "constant");
  return grew ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const double limit = argc > 1 ? std::atof(argv[1]) : 60;
    const tamis::Dataset data = tamis::generate("checkerboard", {.rows = 400}).data;
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("tamis-long-{}", getpid())).string();
    const int code = watch(limit, data, path);
    std::filesystem::remove(path);
    return code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "long_lived: {}\n", error.what());
    return 1;
  }
}

// A time limit, progress, a memory budget, and what errors look like.
#include <cstdio>
#include <exception>

#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/generate.hpp"
#include "tamis/train.hpp"

int main() {
  try {
    const auto rows = tamis::generate("checkerboard", {.rows = 20000, .seed = 1}).data;
    const auto test = tamis::generate("checkerboard", {.rows = 2000, .seed = 2}).data;

    tamis::RunControl control;
    control.memory_bytes = 512LL << 20;
    control.on_progress = [](const tamis::Progress& now) {
      std::fprintf(stderr, "%s, %.1f s\n", now.phase.c_str(), now.elapsed_seconds);
    };
    tamis::TrainOptions options;
    options.cost = 10;
    options.gamma = 100.0;
    options.max_iterations = 15000;  // or max_seconds
    const auto [model, report] = tamis::train(rows, options, control);
    std::printf("stopped by %s: largest KKT violation %.3g, asked for %g\n",
                tamis::stop_reason_name(report.stop_reason).data(), report.violation, options.eps);
    std::printf("the model is usable: error %.0f %%\n",
                100 * tamis::evaluate(model, test).error_rate);

    options.cost = -1;
    try {
      tamis::train(rows, options);
    } catch (const tamis::InvalidArgument& error) {
      std::printf("refused: %s\n", error.what());
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

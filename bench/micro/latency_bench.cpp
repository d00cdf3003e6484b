// How long a loaded model takes for a single row: what a service that asks for one row at a time
// waits for; and how many rows it predicts in a second, one thread.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>

#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/tamis.h"
#include "tamis/train.hpp"

namespace tamis {
namespace {

void one_row(benchmark::State& state, const char* method) {
  const Dataset data = generate("checkerboard", {.rows = state.range(0), .seed = 1}).data;
  TrainOptions options;
  options.method = method;
  options.cost = 10;
  options.gamma = 100;
  const Model model = train(data, options).model;
  const Matrix row = data.features().select(std::vector<Index>{0});
  for (auto _ : state) benchmark::DoNotOptimize(predict_codes(model, row));
  state.counters["support_vectors"] = static_cast<double>(model.num_support_vectors());
}

// The same through the C functions, with a model that was loaded.
void one_row_from_c(benchmark::State& state, const char* method) {
  const Dataset data = generate("checkerboard", {.rows = state.range(0), .seed = 1}).data;
  TrainOptions options;
  options.method = method;
  options.cost = 10;
  options.gamma = 100;
  const std::string path = "latency_bench.model";
  save_model(train(data, options).model, path);
  tamis_model* model = tamis_model_load(path.c_str(), nullptr, nullptr);
  std::remove(path.c_str());
  if (model == nullptr) {
    state.SkipWithError("the model cannot be loaded");
    return;
  }
  const float* row = data.features().dense_row(0).data();
  for (auto _ : state) {
    std::int32_t position = 0;
    tamis_predict_class_row(model, row, data.cols(), &position, nullptr);
    benchmark::DoNotOptimize(position);
  }
  state.counters["support_vectors"] = static_cast<double>(tamis_model_num_support_vectors(model));
  tamis_model_free(model);
}

// A million rows at once, on one thread.
void many_rows(benchmark::State& state, const char* method) {
  TrainOptions options;
  options.method = method;
  options.cost = 10;
  options.gamma = 100;
  const Model model =
      train(generate("checkerboard", {.rows = state.range(0), .seed = 1}).data, options).model;
  const Matrix rows = generate("checkerboard", {.rows = 1000000, .seed = 2}).data.features();
  RunControl control;
  control.threads = 1;
  for (auto _ : state) benchmark::DoNotOptimize(predict_codes(model, rows, control));
  state.SetItemsProcessed(state.iterations() * rows.rows());
}

BENCHMARK_CAPTURE(one_row_from_c, exact, "exact")->Arg(200)->Arg(10000);
BENCHMARK_CAPTURE(one_row_from_c, linear, "linear")->Arg(2000);
BENCHMARK_CAPTURE(one_row_from_c, falk_c, "falk-c")->Arg(10000);
BENCHMARK_CAPTURE(one_row, exact, "exact")->Arg(200)->Arg(10000);
BENCHMARK_CAPTURE(one_row, linear, "linear")->Arg(2000);
BENCHMARK_CAPTURE(one_row, falk_c, "falk-c")->Arg(10000);
BENCHMARK_CAPTURE(one_row, falk, "falk")->Arg(10000);
BENCHMARK_CAPTURE(many_rows, falk_c, "falk-c")->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(many_rows, falk, "falk")->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tamis

BENCHMARK_MAIN();

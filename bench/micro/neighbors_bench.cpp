// Neighbour search: seconds to build each structure, and to answer a batch of queries on all
// threads.
#include <benchmark/benchmark.h>

#include <numeric>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {
namespace {

Matrix uniform_rows(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (float& v : values) v = static_cast<float>(random.uniform());
  return Matrix::dense(rows, cols, std::move(values));
}

void build(benchmark::State& state, Structure structure) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  with_threads(0, [&] {
    for (auto _ : state) benchmark::DoNotOptimize(make_neighbor_index(points, Metric{}, structure));
  });
}

// Arguments: rows, columns, queries, k.
void query(benchmark::State& state, Structure structure) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  const Matrix queries = uniform_rows(state.range(2), state.range(1), 2);
  with_threads(0, [&] {
    const auto index = make_neighbor_index(points, Metric{}, structure);
    for (auto _ : state)
      benchmark::DoNotOptimize(index->nearest(queries, state.range(3)).rows.data());
  });
  state.counters["queries/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(2)), benchmark::Counter::kIsRate);
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{100000, 2}, {91000, 22}, {80000, 54}}) {
    bench->Args({rows, cols, 1000, 500});
    bench->Args({rows, cols, 100000, 1});
  }
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(build, kd_tree, Structure::kd_tree)
    ->Args({3000000, 2})
    ->Args({91000, 22})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, cover_tree, Structure::cover_tree)
    ->Args({3000000, 2})
    ->Args({91000, 22})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, cover_tree, Structure::cover_tree)
    ->Args({100000, 2, 1000, 500})
    ->Args({100000, 2, 100000, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, brute_force, Structure::brute_force)->Apply(shapes);
BENCHMARK_CAPTURE(query, kd_tree, Structure::kd_tree)->Apply(shapes);
BENCHMARK_CAPTURE(query, kd_tree_large, Structure::kd_tree)
    ->Args({3000000, 2, 1000000, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tamis

BENCHMARK_MAIN();

// Neighbour search: seconds to build each structure, and to answer a batch of queries on all
// threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "methods/leader/leader_stream.hpp"
#include "neighbors/neighbor_index.hpp"
#include "neighbors/separated_rows.hpp"

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

// Arguments: rows, columns, how many rows of the order are asked for.
void coarse_to_fine(benchmark::State& state, Structure structure) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  with_threads(0, [&] {
    const auto index = make_neighbor_index(points, Metric{}, structure);
    for (auto _ : state) {
      CoarseToFine order(*index);
      Index given = 0;
      while (given < state.range(2)) given += static_cast<Index>(order.next().size());
    }
  });
}

// Arguments: rows, columns, a hundred times the squared radius.
void leaders(benchmark::State& state, Structure structure) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  std::vector<Index> rows(static_cast<std::size_t>(points.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  const double squared_radius = static_cast<double>(state.range(2)) / 100;
  std::size_t taken = 0;
  with_threads(0, [&] {
    const auto index = make_neighbor_index(points, Metric{}, structure);
    for (auto _ : state) taken = separated_rows(*index, rows, squared_radius).size();
  });
  state.counters["leaders"] = static_cast<double>(taken);
}

// The same with the time to choose and build the index.
void index_and_leaders(benchmark::State& state) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  std::vector<Index> rows(static_cast<std::size_t>(points.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::size_t taken = 0;
  with_threads(0, [&] {
    for (auto _ : state) {
      const auto index = make_neighbor_index(points, Metric{});
      taken = separated_rows(*index, rows, static_cast<double>(state.range(2)) / 100).size();
    }
  });
  state.counters["leaders"] = static_cast<double>(taken);
}

// The same as the paper has it: each row is compared with the leaders, until one is near.
void naive_leaders(benchmark::State& state) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  const float squared_radius = static_cast<float>(state.range(2)) / 100;
  std::vector<Index> leaders;
  const auto distance = [&](Index a, Index b) {
    const auto x = points.dense_row(a);
    const auto z = points.dense_row(b);
    float sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += (x[j] - z[j]) * (x[j] - z[j]);
    return sum;
  };
  for (auto _ : state) {
    leaders.clear();
    for (Index i = 0; i < points.rows(); ++i) {
      if (std::none_of(leaders.begin(), leaders.end(),
                       [&](Index leader) { return distance(i, leader) <= squared_radius; }))
        leaders.push_back(i);
    }
  }
  state.counters["leaders"] = static_cast<double>(leaders.size());
}

// The same for rows that come in blocks.
void leader_stream(benchmark::State& state) {
  const Matrix points = uniform_rows(state.range(0), state.range(1), 1);
  constexpr Index kBlock = 10'000;
  Index taken = 0;
  with_threads(0, [&] {
    for (auto _ : state) {
      LeaderStream leaders(Metric{}, std::sqrt(static_cast<double>(state.range(2)) / 100));
      for (Index begin = 0; begin < points.rows(); begin += kBlock) {
        std::vector<Index> rows(static_cast<std::size_t>(std::min(kBlock, points.rows() - begin)));
        std::iota(rows.begin(), rows.end(), begin);
        leaders.add(points, rows, {});
      }
      taken = leaders.size();
    }
  });
  state.counters["leaders"] = static_cast<double>(taken);
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
BENCHMARK_CAPTURE(coarse_to_fine, kd_tree, Structure::kd_tree)
    ->Args({3000000, 2, 50000})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(coarse_to_fine, brute_force, Structure::brute_force)
    ->Args({91000, 22, 1500})
    ->Args({80000, 54, 1500})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(leaders, kd_tree, Structure::kd_tree)
    ->Args({100000, 4, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(leaders, brute_force, Structure::brute_force)
    ->Args({80000, 22, 120})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(index_and_leaders)
    ->Args({100000, 4, 1})
    ->Args({100000, 22, 120})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(naive_leaders)
    ->Args({100000, 4, 1})
    ->Args({100000, 22, 120})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(leader_stream)
    ->Args({100000, 4, 1})
    ->Args({100000, 22, 120})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, kd_tree_large, Structure::kd_tree)
    ->Args({3000000, 2, 1000000, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tamis

BENCHMARK_MAIN();

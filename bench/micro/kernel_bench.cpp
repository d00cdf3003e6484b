// Kernel values per second of the block primitive, and which share of the processor's peak its sums
// over the features reach: distances by differences take a subtraction and a multiply-add each,
// inner products a multiply-add. The kernel's formula (the exponential) does not count as work, so
// it lowers the share.
#include <benchmark/benchmark.h>

#include <numeric>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "kernels/kernel_blocks.hpp"
#include "peak.hpp"

namespace tamis {
namespace {

Matrix random_rows(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (float& v : values) v = static_cast<float>(random.uniform());
  return Matrix::dense(rows, cols, std::move(values));
}

struct How {
  bool sparse = false;
  bool with_sums = false;
  DistanceBy distance_by = DistanceBy::differences;
};

void kernel_blocks(benchmark::State& state, const Kernel& kernel, const How& how) {
  static const double peak = measured_peak();
  const Index cols = state.range(0);
  constexpr Index kRows = 64;
  constexpr Index kPoints = 32768;
  constexpr Index kStrip = 256;
  Matrix points = random_rows(kPoints, cols, 1);
  Matrix queries = random_rows(kRows, cols, 2);
  if (how.sparse) {  // one value in ten
    const auto thin = [&](const Matrix& m) {
      std::vector<float> values(m.dense_values().begin(), m.dense_values().end());
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = values[i] < 0.1F ? values[i] : 0.0F;
      return Matrix::dense(m.rows(), m.cols(), std::move(values)).to_sparse();
    };
    points = thin(points);
    queries = thin(queries);
  }
  const KernelBlocks blocks(kernel, points, {}, nullptr, how.distance_by);
  std::vector<Index> rows(kRows);
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<float> norms = row_norms(kernel, queries, rows, how.distance_by);
  const std::vector<double> coefficients(kRows, 0.5);
  std::vector<double> sums(kPoints);
  const int threads = available_threads();
  with_threads(threads, [&] {
    for (auto _ : state) {
      parallel_ranges(kPoints, kStrip, [&](Index begin, Index end) {
        alignas(64) float out[kRows * kStrip];
        for (Index b = begin; b < end; b += kStrip) {
          blocks.evaluate(queries, rows, b, b + kStrip, out, kStrip, norms);
          if (how.with_sums) accumulate_rows(out, kStrip, coefficients, kStrip, sums.data() + b);
        }
        benchmark::DoNotOptimize(out[0]);
      });
    }
  });
  const double values = static_cast<double>(state.iterations()) * kRows * kPoints;
  state.counters["G_values/s"] = benchmark::Counter(values / 1e9, benchmark::Counter::kIsRate);
  if (!how.sparse) {
    const bool subtracts =
        kernel.type == KernelType::rbf && how.distance_by == DistanceBy::differences;
    const double operations = subtracts ? 2 : 1;
    state.counters["share_of_peak"] =
        benchmark::Counter(values * static_cast<double>(cols) * operations / (peak * threads),
                           benchmark::Counter::kIsRate);
  }
}

const Kernel kRbf{.type = KernelType::rbf, .gamma = 0.5};
const Kernel kPolynomial{.type = KernelType::polynomial, .gamma = 0.5, .coef0 = 1, .degree = 3};
const Kernel kLinear{.type = KernelType::linear};

void many_widths(benchmark::internal::Benchmark* bench) {
  for (const int cols : {2, 8, 16, 22, 54, 123, 254, 780}) bench->Arg(cols);
  bench->UseRealTime();
}

BENCHMARK_CAPTURE(kernel_blocks, rbf, kRbf, {})->Apply(many_widths);
BENCHMARK_CAPTURE(kernel_blocks, rbf_products, kRbf, {.distance_by = DistanceBy::products})
    ->Apply(many_widths);
BENCHMARK_CAPTURE(kernel_blocks, rbf_sums, kRbf, {.with_sums = true})
    ->Arg(2)
    ->Arg(8)
    ->Arg(22)
    ->Arg(54)
    ->Arg(254)
    ->UseRealTime();
BENCHMARK_CAPTURE(kernel_blocks, polynomial, kPolynomial, {})->Arg(22)->UseRealTime();
BENCHMARK_CAPTURE(kernel_blocks, linear, kLinear, {})->Arg(22)->Arg(254)->UseRealTime();
BENCHMARK_CAPTURE(kernel_blocks, rbf_sparse, kRbf, {.sparse = true})
    ->Arg(123)
    ->Arg(2000)
    ->UseRealTime();

}  // namespace
}  // namespace tamis

BENCHMARK_MAIN();

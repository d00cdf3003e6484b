// Kernel values of sparse rows, in the layout that the library chooses, next to others: floats
// where it counts ones in bytes; dense rows with distances from inner products; and lists of points
// for each column (an inverted index), where a row adds up what each of its columns lists. With
// TAMIS_DATA, on the rows of a9a, w8a and reuters-lasvm; the time of one value in nanoseconds, on
// one thread.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "kernels/kernel_blocks.hpp"
#include "tamis/io.hpp"

namespace tamis {
namespace {

constexpr Index kRows = 64;
constexpr Index kStrip = 512;  // points at a time, as the solver takes them

// Rows to ask, and points in their order at random, a multiple of kStrip.
struct Data {
  Matrix rows;
  Matrix points;
};

std::optional<Data> read_rows(const std::string& name) {
  const char* folder = std::getenv("TAMIS_DATA");
  if (folder == nullptr) return std::nullopt;
  std::filesystem::path file = std::filesystem::path(folder) / name / (name + ".train.xz");
  if (!exists(file)) file.replace_filename(name + ".xz");
  if (!exists(file)) return std::nullopt;
  const Matrix all = read_dataset(file.string()).features();
  const Index count = std::min<Index>(8192, (all.rows() - kRows) / kStrip * kStrip);
  Random random(1, 1);
  const std::vector<Index> drawn = sample_without_replacement(all.rows(), count + kRows, random);
  return Data{all.select(std::span(drawn).first(usize(kRows))),
              all.select(std::span(drawn).subspan(usize(kRows)))};
}

std::vector<Index> first_rows() {
  std::vector<Index> rows(usize(kRows));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

void set_time(benchmark::State& state, const Data& data) {
  const double values = static_cast<double>(state.iterations() * kRows * data.points.rows());
  state.counters["per_value"] =
      benchmark::Counter(values, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void in_blocks(benchmark::State& state, const Kernel& kernel, const Data& data) {
  const DistanceBy by = DistanceBy::products;
  const KernelBlocks blocks(kernel, data.points, {}, nullptr, by);
  const std::vector<Index> rows = first_rows();
  const std::vector<float> norms = row_norms(kernel, data.rows, rows, by);
  std::vector<float> out(usize(kRows * kStrip));
  for (auto _ : state) {
    for (Index begin = 0; begin < data.points.rows(); begin += kStrip) {
      blocks.evaluate(data.rows, rows, begin, begin + kStrip, out.data(), kStrip, norms);
      benchmark::DoNotOptimize(out[0]);
    }
  }
  set_time(state, data);
}

// For each column, the points of a strip that have it, and their values.
struct ColumnLists {
  std::vector<Index> begin;
  std::vector<std::int32_t> points;
  std::vector<float> values;
};

ColumnLists lists_of(const Matrix& points, Index first, Index count) {
  ColumnLists lists;
  lists.begin.assign(usize(points.cols() + 1), 0);
  for (Index p = first; p < first + count; ++p) {
    for (const std::int32_t column : points.sparse_row(p).columns) ++lists.begin[usize(column + 1)];
  }
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  std::vector<Index> next = lists.begin;
  lists.points.resize(usize(lists.begin.back()));
  lists.values.resize(lists.points.size());
  for (Index p = first; p < first + count; ++p) {
    const SparseRow row = points.sparse_row(p);
    for (std::size_t k = 0; k < row.columns.size(); ++k) {
      const Index at = next[usize(row.columns[k])]++;
      lists.points[usize(at)] = static_cast<std::int32_t>(p - first);
      lists.values[usize(at)] = row.values[k];
    }
  }
  return lists;
}

void by_columns(benchmark::State& state, const Kernel& kernel, const Data& data, Index strip) {
  std::vector<ColumnLists> strips;
  for (Index first = 0; first < data.points.rows(); first += strip)
    strips.push_back(lists_of(data.points, first, std::min(strip, data.points.rows() - first)));
  const std::vector<float> norms = row_norms(kernel, data.points, [&] {
    std::vector<Index> all(usize(data.points.rows()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }());
  const std::vector<float> row_norm = row_norms(kernel, data.rows, first_rows());
  std::vector<float> out(usize(strip));
  for (auto _ : state) {
    for (std::size_t s = 0; s < strips.size(); ++s) {
      const ColumnLists& lists = strips[s];
      const float* point_norms = norms.data() + static_cast<Index>(s) * strip;
      for (Index r = 0; r < kRows; ++r) {
        const SparseRow row = data.rows.sparse_row(r);
        std::fill(out.begin(), out.end(), 0.0F);
        for (std::size_t k = 0; k < row.columns.size(); ++k) {
          const float x = row.values[k];
          for (Index at = lists.begin[usize(row.columns[k])];
               at < lists.begin[usize(row.columns[k] + 1)]; ++at)
            out[usize(lists.points[usize(at)])] += x * lists.values[usize(at)];
        }
        for (Index p = 0; p < strip; ++p)
          out[usize(p)] = row_norm[usize(r)] + point_norms[p] - 2 * out[usize(p)];
        finish_kernel(kernel, out.data(), strip);
        benchmark::DoNotOptimize(out[0]);
      }
    }
  }
  set_time(state, data);
}

// The same rows, not known to hold only ones.
Matrix as_floats(const Matrix& m) {
  return Matrix::checked_sparse_view(m.cols(), m.row_offsets(), m.sparse_columns(),
                                     m.sparse_values(), std::make_shared<const Matrix>(m));
}

void add(const std::string& name, double gamma) {
  const std::optional<Data> read = read_rows(name);
  if (!read) return;
  const Data data = *read;
  const Kernel kernel{.gamma = gamma};
  const auto add_one = [&](const std::string& layout, auto&& run) {
    benchmark::RegisterBenchmark((name + "/" + layout).c_str(), run);
  };
  add_one("chosen", [=](benchmark::State& state) { in_blocks(state, kernel, data); });
  if (data.points.has_only_ones()) {
    const Data floats{as_floats(data.rows), as_floats(data.points)};
    add_one("floats", [=](benchmark::State& state) { in_blocks(state, kernel, floats); });
  }
  if (data.points.cols() < 1000) {
    const Data dense{data.rows.to_dense(), data.points.to_dense()};
    add_one("dense", [=](benchmark::State& state) { in_blocks(state, kernel, dense); });
  }
  for (const Index strip : {Index{512}, data.points.rows()}) {
    add_one("columns_of_" + std::to_string(strip),
            [=](benchmark::State& state) { by_columns(state, kernel, data, strip); });
  }
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  tamis::add("a9a", 0.05);
  tamis::add("w8a", 0.1);
  tamis::add("reuters-lasvm", 1);
  benchmark::RunSpecifiedBenchmarks();
}

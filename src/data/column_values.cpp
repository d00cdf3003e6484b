#include "data/column_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "data/row_messages.hpp"

namespace tamis {
namespace {

constexpr Index kMostRows = Index{1} << 18;    // sorted in some ten milliseconds
constexpr Index kGroupColumns = 16;            // of dense rows read in one pass: a cache line
constexpr std::uint64_t kSampleSeed = 0x51a7;  // fixed: a scaling depends on the rows alone

std::vector<Index> sampled_rows(Index rows) {
  if (rows > kMostRows) {
    Random random(kSampleSeed);
    return sample_without_replacement(rows, kMostRows, random);
  }
  std::vector<Index> all(usize(rows));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// Sorts the values and counts equal ones; `zeros` more are zero.
std::vector<ValueRun> runs_of(std::span<float> values, Index zeros) {
  std::sort(values.begin(), values.end());
  std::vector<ValueRun> runs;
  const auto add = [&](float value, Index count) {
    if (!runs.empty() && runs.back().value == value)
      runs.back().count += count;
    else if (count > 0)
      runs.push_back({value, count});
  };
  bool zeros_added = false;
  for (const float value : values) {
    if (!zeros_added && value >= 0) {
      add(0.0F, zeros);
      zeros_added = true;
    }
    add(value, 1);
  }
  if (!zeros_added) add(0.0F, zeros);
  return runs;
}

using Visit = std::function<void(Index, std::span<const ValueRun>)>;

void visit_dense(const Matrix& features, std::span<const Index> rows, const RunControl& control,
                 const Visit& visit) {
  const Index groups = (features.cols() + kGroupColumns - 1) / kGroupColumns;
  const auto bytes = checked_product(static_cast<Index>(rows.size()), kGroupColumns * 12);
  require_memory("scaling", checked_product(bytes, loop_threads()),
                 memory_left(control.memory_bytes));
  ProgressMeter meter(control, "scale", features.cols());
  parallel_each(groups, [&](Index group) {
    const Index first = group * kGroupColumns;
    const Index count = std::min(kGroupColumns, features.cols() - first);
    std::vector<std::vector<float>> columns(usize(count), std::vector<float>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = features.dense_row(rows[i]).subspan(usize(first), usize(count));
      for (std::size_t j = 0; j < row.size(); ++j) columns[j][i] = row[j];
    }
    for (Index j = 0; j < count; ++j) {
      visit(first + j, runs_of(columns[usize(j)], 0));
      meter.add(1);
    }
  });
}

void visit_sparse(const Matrix& features, std::span<const Index> rows, const RunControl& control,
                  const Visit& visit) {
  const Index left = memory_left(control.memory_bytes);
  require_column_memory("scaling", features.cols(), 2 * sizeof(Index), left);
  std::vector<Index> begin(usize(features.cols()) + 1, 0);
  ProgressMeter meter(control, "scale", 2 * static_cast<Index>(rows.size()) + features.cols());
  for (const Index i : rows) {
    for (const std::int32_t column : features.sparse_row(i).columns) ++begin[usize(column) + 1];
    if (i % 256 == 0) meter.add(256);
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  require_memory("scaling", checked_product(begin.back(), 3 * sizeof(float)), left);
  std::vector<float> values(usize(begin.back()));
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (const Index i : rows) {
    const SparseRow row = features.sparse_row(i);
    for (std::size_t k = 0; k < row.columns.size(); ++k)
      values[usize(next[usize(row.columns[k])]++)] = row.values[k];
    if (i % 256 == 0) meter.add(256);
  }
  parallel_ranges(features.cols(), 64, [&](Index first, Index last) {
    for (Index j = first; j < last; ++j) {
      const Index stored = begin[usize(j) + 1] - begin[usize(j)];
      const std::span<float> column(values.data() + begin[usize(j)], usize(stored));
      visit(j, runs_of(column, static_cast<Index>(rows.size()) - stored));
    }
    meter.add(last - first);
  });
}

// The runs whose scores come nearest to evenly spread ones, the outermost among them.
std::vector<std::size_t> spread_runs(std::span<const double> shares) {
  const double low = normal_quantile(shares.front());
  const double high = normal_quantile(shares.back());
  std::vector<std::size_t> chosen{0};
  for (Index k = 1; k + 1 < Scaling::kMaxKnots; ++k) {
    const double score =
        low + (high - low) * static_cast<double>(k) / static_cast<double>(Scaling::kMaxKnots - 1);
    const double share = std::erfc(-score / std::sqrt(2.0)) / 2;
    const auto found = std::lower_bound(shares.begin(), shares.end(), share);
    const auto place = static_cast<std::size_t>(found - shares.begin());
    if (place > chosen.back() && place + 1 < shares.size()) chosen.push_back(place);
  }
  chosen.push_back(shares.size() - 1);
  return chosen;
}

// On several ranks, the rows to look at of all of them; else the rows as they are.
Matrix sample_of_all(const Matrix& mine, Group& group) {
  if (group.size() == 1) return mine;
  const Index first = sum_of_earlier(group, mine.rows());
  std::vector<Index> own;
  for (const Index row : sampled_rows(sum_of_all(group, mine.rows()))) {
    if (row >= first && row < first + mine.rows()) own.push_back(row - first);
  }
  return unpack_all(group.all_gather(pack_rows(mine, own)), mine);
}

}  // namespace

void visit_columns(const Matrix& mine, const RunControl& control, const Visit& visit) {
  require_finite(mine);
  const Matrix features = sample_of_all(mine, group_of(control));
  const std::vector<Index> rows = sampled_rows(features.rows());
  if (features.is_sparse())
    visit_sparse(features, rows, control, visit);
  else
    visit_dense(features, rows, control, visit);
}

double quantile(std::span<const ValueRun> runs, double share) {
  Index rows = 0;
  for (const ValueRun& run : runs) rows += run.count;
  const double place = share * static_cast<double>(rows - 1);
  const auto below = static_cast<Index>(place);
  const auto at = [&](Index row) {
    std::size_t r = 0;
    while (row >= runs[r].count && r + 1 < runs.size()) row -= runs[r++].count;
    return static_cast<double>(runs[r].value);
  };
  const double part = place - static_cast<double>(below);
  return part > 0 ? at(below) * (1 - part) + at(below + 1) * part : at(below);
}

double standard_deviation(std::span<const ValueRun> runs) {
  double rows = 0;
  double mean = 0;
  for (const ValueRun& run : runs) rows += static_cast<double>(run.count);
  for (const ValueRun& run : runs)
    mean += static_cast<double>(run.value) * (static_cast<double>(run.count) / rows);
  double squares = 0;
  for (const ValueRun& run : runs) {
    const double difference = static_cast<double>(run.value) - mean;
    squares += difference * difference * (static_cast<double>(run.count) / rows);
  }
  return std::sqrt(squares);
}

Knots normal_scores(std::span<const ValueRun> runs) {
  std::vector<double> shares(runs.size());
  Index rows = 0;
  for (const ValueRun& run : runs) rows += run.count;
  Index before = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    shares[r] = (static_cast<double>(before) + static_cast<double>(runs[r].count) / 2) /
                static_cast<double>(rows);
    before += runs[r].count;
  }
  std::vector<std::size_t> chosen(runs.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (static_cast<Index>(runs.size()) > Scaling::kMaxKnots) chosen = spread_runs(shares);
  Knots knots;
  for (const std::size_t r : chosen) {
    knots.values.push_back(runs[r].value);
    knots.scores.push_back(static_cast<float>(normal_quantile(shares[r])));
  }
  return knots;
}

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  // By bisection of the distribution function, which is accurate far into this tail: p is at least
  // 1e-19 for any number of rows that fits into memory.
  double low = -10;
  double high = 0;
  for (int step = 0; step < 56; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return high;  // 0 for the median, to the last bit
}

}  // namespace tamis

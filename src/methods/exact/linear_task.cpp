#include "methods/exact/linear_task.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/checked.hpp"
#include "base/mix.hpp"
#include "base/parallel.hpp"
#include "linear/problem.hpp"
#include "linear/solve.hpp"
#include "methods/common/binary_settings.hpp"
#include "svm/row_order.hpp"

namespace tamis {
namespace {

// What a linear::Problem points to.
struct Points {
  explicit Points(const RowStore& store)
      : rows(store), targets(store), cost(store), copies(store) {}

  RowVector<Index> rows;
  RowVector<double> targets;
  RowVector<double> cost;
  RowVector<Index> copies;
  std::vector<Index> blocks;
};

struct Key {
  std::uint64_t row = 0;  // mixed hash of the row: its highest bits are the block
  double target = 0;
  double cost = 0;
  std::size_t position = 0;

  bool operator<(const Key& other) const {
    return std::tie(row, target, cost, position) <
           std::tie(other.row, other.target, other.cost, other.position);
  }
};

bool same_row(const Matrix& features, Index a, Index b) {
  if (features.is_sparse()) {
    const SparseRow x = features.sparse_row(a);
    const SparseRow y = features.sparse_row(b);
    return std::equal(x.columns.begin(), x.columns.end(), y.columns.begin(), y.columns.end()) &&
           std::equal(x.values.begin(), x.values.end(), y.values.begin(), y.values.end());
  }
  const auto x = features.dense_row(a);
  const auto y = features.dense_row(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

Points in_order(const TrainingSet& set, const BinaryTask& given, const RowStore& store) {
  const BinaryTask task = ordered_by_content(set.features, set.cost, given);
  Points points(store);
  points.rows = task.rows;
  points.targets = task.targets;
  points.cost.reserve(task.rows.size());
  for (const Index row : task.rows) points.cost.push_back(set.cost[usize(row)]);
  return points;
}

// Block by block: each is sorted for itself.
RowVector<Key> sorted_keys(const TrainingSet& set, const BinaryTask& task, Index blocks,
                           const RowStore& store) {
  RowVector<Key> keys(task.rows.size(), store);
  const RowVector<std::uint64_t> hashes = hash_rows(set.features, task.rows, store);
  std::vector<Index> begins(usize(blocks) + 1, 0);
  for (const std::uint64_t hash : hashes) ++begins[usize(block_of_row(mix(hash), blocks)) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<Index> next = begins;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const std::uint64_t hash = mix(hashes[k]);
    const Index place = next[usize(block_of_row(hash, blocks))]++;
    keys[usize(place)] = {hash, task.targets[k], set.cost[usize(task.rows[k])], k};
  }
  parallel_each(blocks, [&](Index b) {
    std::sort(keys.begin() + begins[usize(b)], keys.begin() + begins[usize(b) + 1]);
  });
  return keys;
}

Points in_blocks(const TrainingSet& set, const BinaryTask& task, Index blocks,
                 const RowStore& store) {
  Points points(store);
  points.blocks.assign(usize(blocks) + 1, 0);
  const RowVector<Key> keys = sorted_keys(set, task, blocks, store);
  points.rows.reserve(keys.size());
  points.targets.reserve(keys.size());
  points.cost.reserve(keys.size());
  points.copies.reserve(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto& [hash, target, cost, position] = keys[k];
    const Index row = task.rows[position];
    if (k > 0 && keys[k - 1].row == hash && points.targets.back() == target &&
        same_row(set.features, points.rows.back(), row)) {
      points.cost.back() += cost;
      ++points.copies.back();
      continue;
    }
    points.rows.push_back(row);
    points.targets.push_back(target);
    points.cost.push_back(cost);
    points.copies.push_back(1);
    points.blocks[usize(block_of_row(hash, blocks)) + 1] = std::ssize(points.rows);
  }
  for (std::size_t b = 1; b < points.blocks.size(); ++b)
    points.blocks[b] = std::max(points.blocks[b], points.blocks[b - 1]);
  return points;
}

}  // namespace

Index num_values(const Matrix& features, std::span<const Index> rows) {
  if (!features.is_sparse()) return std::ssize(rows) * features.cols();
  Index values = 0;
  for (const Index row : rows)
    values += features.row_offsets()[usize(row) + 1] - features.row_offsets()[usize(row)];
  return values;
}

Index block_of_row(std::uint64_t mixed_hash, Index blocks) {
  const int bits = std::countr_zero(static_cast<std::uint64_t>(blocks));
  return bits == 0 ? 0 : static_cast<Index>(mixed_hash >> (64 - bits));
}

linear::Solution solve_linear(const TrainingSet& set, const BinaryTask& task,
                              const LinearSettings& settings, const TrainContext& context,
                              const qp::StatusCallback& on_status) {
  const Points points = settings.blocks > 1 ? in_blocks(set, task, settings.blocks, settings.store)
                                            : in_order(set, task, settings.store);
  linear::Problem problem;
  problem.features = set.features;
  problem.rows = points.rows;
  problem.target = points.targets;
  problem.cost = points.cost;
  problem.copies = points.copies;
  problem.blocks = points.blocks;
  problem.group = settings.group;
  problem.task = set.is_regression() ? Task::regression : Task::classification;
  problem.loss = context.options.loss;
  problem.tube = context.options.tube_or_default();
  problem.bias = context.options.bias;
  // Rows of a mapped file would be read from all over the disk, in every epoch.
  problem.copies_rows = settings.copies_rows || set.features.is_mapped();
  problem.control = &context.control;
  problem.store = settings.store;
  qp::StopCheck stop(limits_now(context), context.control);
  return linear::solve(problem, stop, context.options.seed, on_status);
}

BinaryResult linear_result(const linear::Solution& solution) {
  BinaryResult result;
  result.machine.offset = solution.offset;
  result.stats.objective = solution.objective;
  result.stats.gap = solution.gap;
  result.stats.violation = solution.violation;
  result.stats.iterations = solution.epochs;
  result.stats.bounded_support_vectors = solution.bounded_support_vectors;
  result.stats.stop_reason = solution.stop_reason;
  return result;
}

}  // namespace tamis

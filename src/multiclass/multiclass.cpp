#include "multiclass/multiclass.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

// Trains all tasks, the largest first so that no long one is left for the end. Each may use threads
// inside; isolation keeps a thread that waits there from starting another task, which would pile up
// their memory.
std::vector<BinaryResult> train_all(Index count, const std::function<BinaryTask(Index)>& make_task,
                                    const std::function<Index(Index)>& size_of,
                                    const BinaryTrainer& trainer) {
  std::vector<Index> order(usize(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return size_of(a) > size_of(b); });
  std::vector<BinaryResult> results(usize(count));
  parallel_each(count, [&](Index k) {
    const Index m = order[usize(k)];
    isolated([&] { results[usize(m)] = trainer(make_task(m)); });
  });
  return results;
}

}  // namespace

std::vector<BinaryResult> train_one_vs_one(std::span<const std::int32_t> class_of_row,
                                           Index num_classes, const BinaryTrainer& trainer,
                                           const RowStore& store) {
  std::vector<RowVector<Index>> rows_of(usize(num_classes), RowVector<Index>(store));
  for (std::size_t i = 0; i < class_of_row.size(); ++i)
    rows_of[usize(class_of_row[i])].push_back(static_cast<Index>(i));
  std::vector<std::pair<Index, Index>> pairs;
  for (Index i = 0; i < num_classes; ++i) {
    for (Index j = i + 1; j < num_classes; ++j) pairs.emplace_back(i, j);
  }
  const auto make_task = [&](Index m) {
    const auto& [first, second] = pairs[usize(m)];
    const RowVector<Index>& one = rows_of[usize(first)];
    const RowVector<Index>& other = rows_of[usize(second)];
    BinaryTask task = empty_task(m, static_cast<Index>(one.size() + other.size()), store);
    task.rows.resize(one.size() + other.size());
    std::merge(one.begin(), one.end(), other.begin(), other.end(), task.rows.begin());
    for (const Index row : task.rows)
      task.targets.push_back(class_of_row[usize(row)] == first ? 1.0 : -1.0);
    return task;
  };
  const auto size_of = [&](Index m) {
    return static_cast<Index>(rows_of[usize(pairs[usize(m)].first)].size() +
                              rows_of[usize(pairs[usize(m)].second)].size());
  };
  return train_all(static_cast<Index>(pairs.size()), make_task, size_of, trainer);
}

std::vector<BinaryResult> train_one_vs_rest(std::span<const std::int32_t> class_of_row,
                                            Index num_classes, const BinaryTrainer& trainer,
                                            const RowStore& store) {
  const auto make_task = [&](Index m) {
    BinaryTask task = empty_task(m, std::ssize(class_of_row), store);
    task.rows.resize(class_of_row.size());
    std::iota(task.rows.begin(), task.rows.end(), 0);
    for (const std::int32_t c : class_of_row) task.targets.push_back(c == m ? 1.0 : -1.0);
    return task;
  };
  return train_all(
      num_classes, make_task, [&](Index) { return static_cast<Index>(class_of_row.size()); },
      trainer);
}

}  // namespace tamis

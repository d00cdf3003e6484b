#include "multiclass/train_machines.hpp"

#include "base/checked.hpp"
#include "multiclass/multiclass.hpp"

namespace tamis {
namespace {

// Of the one problem of a regression or of two classes: the first class is +1.
double whole_target(const TrainingSet& data, Index row) {
  if (data.is_regression()) return data.targets[usize(row)];
  return data.codes[usize(row)] == 0 ? 1.0 : -1.0;
}

}  // namespace

Decision decision_for(const TrainingSet& data, const TrainOptions& options) {
  if (data.num_classes <= 2) return Decision::single;
  return options.multiclass == Multiclass::one_vs_one ? Decision::one_vs_one
                                                      : Decision::one_vs_rest;
}

BinaryTask binary_task(const TrainingSet& data, Decision decision, Index index,
                       const RowStore& store) {
  BinaryTask task = empty_task(index, 0, store);
  const auto pair = decision == Decision::one_vs_one ? class_pair(index, data.num_classes)
                                                     : std::pair<Index, Index>(index, -1);
  for (Index row = 0; row < data.rows(); ++row) {
    const Index code = data.is_regression() ? 0 : data.codes[usize(row)];
    if (decision == Decision::one_vs_one && code != pair.first && code != pair.second) continue;
    task.rows.push_back(row);
    task.targets.push_back(decision == Decision::single ? whole_target(data, row)
                           : code == pair.first         ? 1.0
                                                        : -1.0);
  }
  return task;
}

std::vector<BinaryResult> train_machines(const TrainingSet& data, std::span<const Index> rows,
                                         Decision decision, const BinaryTrainer& trainer,
                                         const RowStore& store) {
  std::vector<BinaryResult> results;
  if (decision == Decision::single) {
    BinaryTask task = empty_task(0, std::ssize(rows), store);
    task.rows.assign(rows.begin(), rows.end());
    for (const Index row : rows) task.targets.push_back(whole_target(data, row));
    results.push_back(trainer(task));
    return results;
  }
  RowVector<std::int32_t> codes(store);
  codes.reserve(rows.size());
  for (const Index row : rows) codes.push_back(data.codes[usize(row)]);
  // The wrappers number the rows they were given.
  const BinaryTrainer renumbered = [&](BinaryTask task) {
    for (Index& row : task.rows) row = rows[usize(row)];
    return trainer(task);
  };
  return decision == Decision::one_vs_one
             ? train_one_vs_one(codes, data.num_classes, renumbered, store)
             : train_one_vs_rest(codes, data.num_classes, renumbered, store);
}

}  // namespace tamis

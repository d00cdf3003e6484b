#include "multiclass/train_machines.hpp"

#include "base/checked.hpp"
#include "multiclass/multiclass.hpp"

namespace tamis {
namespace {

// The one problem of a regression or of two classes: the first class is +1.
BinaryTask whole_task(const TrainingSet& data, std::span<const Index> rows) {
  BinaryTask task;
  task.rows.assign(rows.begin(), rows.end());
  for (const Index row : rows) {
    task.targets.push_back(data.is_regression()          ? data.targets[usize(row)]
                           : data.codes[usize(row)] == 0 ? 1.0
                                                         : -1.0);
  }
  return task;
}

}  // namespace

Decision decision_for(const TrainingSet& data, const TrainOptions& options) {
  if (data.num_classes <= 2) return Decision::single;
  return options.multiclass == Multiclass::one_vs_one ? Decision::one_vs_one
                                                      : Decision::one_vs_rest;
}

std::vector<BinaryResult> train_machines(const TrainingSet& data, std::span<const Index> rows,
                                         Decision decision, const BinaryTrainer& trainer) {
  std::vector<BinaryResult> results;
  if (decision == Decision::single) {
    results.push_back(trainer(whole_task(data, rows)));
    return results;
  }
  std::vector<std::int32_t> codes;
  for (const Index row : rows) codes.push_back(data.codes[usize(row)]);
  // The wrappers number the rows they were given.
  const BinaryTrainer renumbered = [&](BinaryTask task) {
    for (Index& row : task.rows) row = rows[usize(row)];
    return trainer(task);
  };
  return decision == Decision::one_vs_one ? train_one_vs_one(codes, data.num_classes, renumbered)
                                          : train_one_vs_rest(codes, data.num_classes, renumbered);
}

}  // namespace tamis

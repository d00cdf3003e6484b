#include "svm/training_set.hpp"

#include "base/checked.hpp"

namespace tamis {

TrainingSet TrainingSet::select(std::span<const Index> rows) const {
  TrainingSet part;
  part.features = features.select(rows);
  part.num_classes = num_classes;
  part.classes = classes;
  part.kernel = kernel;
  for (const Index row : rows) {
    if (is_regression())
      part.targets.push_back(targets[usize(row)]);
    else
      part.codes.push_back(codes[usize(row)]);
    part.cost.push_back(cost[usize(row)]);
  }
  return part;
}

}  // namespace tamis

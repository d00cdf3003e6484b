// From a training set to its binary machines: one for the whole, or one for each pair of classes or
// each class.
#pragma once

#include <span>
#include <vector>

#include "model/decision.hpp"
#include "svm/binary_task.hpp"
#include "svm/training_set.hpp"
#include "tamis/options.hpp"

namespace tamis {

Decision decision_for(const TrainingSet& data, const TrainOptions& options);

/// The task of the decision's binary SVM number `index`, on all rows.
BinaryTask binary_task(const TrainingSet& data, Decision decision, Index index,
                       const RowStore& store = {});

/// Trains the machines of the decision on the given rows, ascending and each once; tasks name rows
/// of the training set, and lie in `store`.
std::vector<BinaryResult> train_machines(const TrainingSet& data, std::span<const Index> rows,
                                         Decision decision, const BinaryTrainer& trainer,
                                         const RowStore& store = {});

}  // namespace tamis

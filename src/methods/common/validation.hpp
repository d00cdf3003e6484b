// The error of a model on rows that it was not trained on.
#pragma once

#include <span>

#include "model/kernel_expansion.hpp"
#include "svm/training_set.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// Share of the cost that wrong labels have, or the mean squared error by cost: a row of weight 2
/// counts as two.
class Validation {
 public:
  Validation(const TrainingSet& data, std::span<const Index> rows) : rows_(data.select(rows)) {}

  Index size() const { return rows_.rows(); }
  bool empty() const { return size() == 0; }
  double error(const KernelExpansion& machine, const RunControl& control) const;

 private:
  TrainingSet rows_;
};

}  // namespace tamis

// What every method learns from: rows that count, scaled; labels encoded; a cost for each row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

struct TrainingSet {
  Matrix features;
  RowVector<std::int32_t> codes;  ///< class position of each row; empty for regression
  Index num_classes = 0;          ///< 0 for regression
  Labels classes;                 ///< what they are called, by position
  RowVector<double> targets;      ///< regression
  RowVector<double> cost;         ///< C of each row: the option, times the row's and class's weight
  Kernel kernel;                  ///< with gamma settled

  Index rows() const { return features.rows(); }
  bool is_regression() const { return num_classes == 0; }
  /// Rows by number; features are copied.
  TrainingSet select(std::span<const Index> rows) const;
};

}  // namespace tamis

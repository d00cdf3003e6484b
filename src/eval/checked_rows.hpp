// The rows a model is checked on, as its machines see them.
#pragma once

#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct CheckedRows {
  std::vector<Index> original;      ///< number in the data given, of all ranks
  Matrix features;                  ///< scaled
  std::vector<std::int32_t> codes;  ///< class positions, for classification
  std::vector<double> numbers;      ///< targets, for regression
  std::vector<double> cost;         ///< C of each row
};

/// Features fitted to the machine's columns, and scaled.
Matrix scaled_rows(const Model& model, const Matrix& features, const RunControl& control);

/// Leaves out rows of weight 0. On several ranks, the rows of this one. Throws DataError for labels
/// that are missing or that the model does not have, InvalidArgument for a class weight of a class
/// it does not have.
CheckedRows checked_rows(const Model& model, const Dataset& data, const TrainOptions& options,
                         const RunControl& control);

}  // namespace tamis

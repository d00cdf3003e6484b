// The rows a model is checked on, as its machines see them.
#pragma once

#include <vector>

#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// What a model was to learn of a row.
struct RowFact {
  Index row = 0;      ///< number in the data given, of all ranks
  Index code = 0;     ///< class position, for classification
  double number = 0;  ///< target, for regression
  double cost = 0;    ///< C of the row
};

/// On several ranks, the rows of this one. Rows of weight 0 are there and do not count.
class CheckedRows {
 public:
  /// Throws DataError for labels that are missing or that the model does not have, InvalidArgument
  /// for a class weight of a class it does not have.
  CheckedRows(const Model& model, const Dataset& data, const TrainOptions& options,
              const RunControl& control);

  const Matrix& features() const { return features_; }  ///< scaled
  Index rows() const { return data_.rows(); }
  bool counts(Index i) const { return data_.weight(i) > 0; }
  RowFact fact(Index i) const;

 private:
  Dataset data_;
  Matrix features_;
  Index first_ = 0;                // this rank's rows begin here among all
  RowVector<std::int32_t> codes_;  // empty for regression
  double cost_;
  std::vector<double> factors_;  // on C, of each class
};

/// Features fitted to the machine's columns, and scaled.
Matrix scaled_rows(const Model& model, const Matrix& features, const RunControl& control);

}  // namespace tamis

// Predicting with a model, on all cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// Row-major values, one row per input row.
struct DecisionValues {
  Index rows = 0;
  Index cols = 0;
  std::vector<double> values;
  std::vector<std::string> columns;  ///< "a/b" for a pair of classes, "a" for one against the rest,
                                     ///< "value" for regression
  double at(Index i, Index j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
};

/// The rows with the columns that the model was trained with, for what takes a Matrix below: found
/// by name where both have names, other columns are ignored; text with the numbers of the model's
/// categories. Throws DataError for a column that is not there.
TAMIS_EXPORT Dataset rows_for(const Model& model, const Dataset& data,
                              const RunControl& control = {});

/// One label (class or number) per row. Rows may have fewer columns than the model (the rest is
/// zero), or more if those hold only zeros; otherwise DataError. Models from LIBSVM files, which do
/// not say how many columns there were, take any number. The model's columns and its scaling are
/// applied: missing values are NaN, text is the numbers of the model's categories.
TAMIS_EXPORT Labels predict(const Model& model, const Matrix& features,
                            const RunControl& control = {});
/// The same for rows_for(model, data).
TAMIS_EXPORT Labels predict(const Model& model, const Dataset& data,
                            const RunControl& control = {});

/// The same for classes, as positions in model.classes(). Throws InvalidArgument for a regression.
TAMIS_EXPORT std::vector<std::int32_t> predict_codes(const Model& model, const Matrix& features,
                                                     const RunControl& control = {});

TAMIS_EXPORT DecisionValues decision_values(const Model& model, const Matrix& features,
                                            const RunControl& control = {});

/// The same predictions from decision values of the model, without evaluating it again. If
/// you need several of labels, values and probabilities, compute the values once. Throws
/// InvalidArgument when the values have other columns than the model's.
TAMIS_EXPORT Labels predict(const Model& model, const DecisionValues& values,
                            const RunControl& control = {});
TAMIS_EXPORT std::vector<std::int32_t> predict_codes(const Model& model,
                                                     const DecisionValues& values,
                                                     const RunControl& control = {});

}  // namespace tamis

// From the user's rows to what a method learns from.
#pragma once

#include "base/group.hpp"
#include "svm/training_set.hpp"
#include "tamis/control.hpp"
#include "tamis/options.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

struct Prepared {
  TrainingSet set;
  Labels classes;  ///< empty for regression
  Scaling scaling;
  Matrix unscaled;                ///< the features of the set before scaling
  std::vector<Index> given_rows;  ///< where each row was in the data; empty: in the same place
};

/// A row of weight zero is as good as no row. `kept` gets the rows that count, or stays empty when
/// all do. Throws DataError when none does.
Dataset without_weightless_rows(const Dataset& data, std::vector<Index>* kept,
                                const RunControl& control);

/// On several ranks, `given` are this one's rows, and what is learned from them - classes, scaling,
/// gamma - is learned from those of all.
/// Drops rows of weight 0, refuses values that are not finite, encodes labels, gives every row its
/// cost, learns and applies the scaling, settles gamma, applies given feature weights, and makes
/// sparse rows dense where float32 needs it. A method that uses no kernel gets the linear one.
/// Throws DataError, InvalidArgument, ResourceError, Cancelled.
Prepared prepare(const Dataset& given, const TrainOptions& options, bool uses_kernel,
                 const RunControl& control);

/// Makes feature weights or a full metric, whichever is not empty, part of the scaling, and scales
/// the rows again. Throws as prepare() does.
void use_metric(const std::vector<float>& weights, const std::vector<float>& matrix,
                const TrainOptions& options, const RunControl& control, Prepared* prepared);

}  // namespace tamis

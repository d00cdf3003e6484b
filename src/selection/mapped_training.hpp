// Training on tables with missing values, text columns, or named columns.
#pragma once

#include <functional>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"
#include "tamis/train.hpp"

namespace tamis {

/// The column map that these options learn from the rows of a weight above 0. Nothing is known of
/// the columns of a precomputed kernel.
ColumnMap learn_columns(const Dataset& data, const TrainOptions& options,
                        const RunControl& control);

/// The rows with the outputs of the map as columns; the rows themselves if it is an identity.
Dataset mapped(const ColumnMap& columns, const Dataset& data, const RunControl& control);

/// Learns the map, calls train_on with the mapped rows, and puts the map into the model. All that
/// train_on does - scaling, cross-validation, trials - sees columns of numbers only.
TrainResult train_mapped(const Dataset& data, const TrainOptions& options,
                         const RunControl& control,
                         const std::function<TrainResult(const Dataset&)>& train_on);

}  // namespace tamis

// START HERE. Train a model, predict with it, save it (tests/docs/start_here.py compiles this):
//
//   tamis::Dataset data = tamis::read_dataset("train.svm");
//   tamis::TrainOptions options;
//   options.cost = 10;
//   options.gamma = 2.0;
//   auto [model, report] = tamis::train(data, options);
//   tamis::Labels labels = tamis::predict(model, data.features());
//   tamis::save_model(model, "train.model");
#pragma once

#include <string>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/methods.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"

namespace tamis {

struct TrainResult {
  Model model;
  TrainReport report;
};

/// Trains with options.method. A limit or a cancelled run still gives a usable model;
/// report.stop_reason says which. Throws InvalidArgument for bad options, DataError for unusable
/// data (one class only, values that are not finite), ResourceError when the memory budget is too
/// small.
TAMIS_EXPORT TrainResult train(const Dataset& data, const TrainOptions& options = {},
                               const RunControl& control = {});

/// The method that train() would run. Named: that one. Else `exact`, but `auto` above 100,000 rows,
/// unless the kernel is precomputed or an option is set that `auto` does not use.
TAMIS_EXPORT std::string resolve_method(const Dataset& data, const TrainOptions& options);

/// Columns whose ranges differ so much that an RBF or polynomial kernel would see only the widest;
/// one sentence, or empty.
TAMIS_EXPORT std::string scaling_advice(const Matrix& features);

}  // namespace tamis

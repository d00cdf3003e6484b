// START HERE. Train a machine:
//
//   tamis::Dataset data = tamis::read_dataset("train.svm");
//   auto [model, report] = tamis::train(data, {.gamma = {tamis::Gamma::Rule::value, 2.0}, .cost =
//   10}); tamis::Labels labels = tamis::predict(model, test.features()); tamis::save_model(model,
//   "train.model");
#pragma once

#include <string_view>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"

namespace tamis {

struct TrainResult {
  Model model;
  TrainReport report;
};

/// Trains with options.method. A limit or a cancelled run still gives a usable model;
/// report.stop_reason tells. Throws InvalidArgument for bad options, DataError for unusable data
/// (one class only, values that are not finite), ResourceError when the memory budget is too small.
TrainResult train(const Dataset& data, const TrainOptions& options = {},
                  const RunControl& control = {});

/// The methods `train` knows, beside "auto", which chooses one of them.
std::vector<std::string_view> method_names();

/// Columns whose ranges differ so much that an RBF or polynomial kernel would see only the widest;
/// a sentence for people, or empty.
std::string scaling_advice(const Matrix& features);

}  // namespace tamis

// Everything that the report page of one model shows, measured on labeled rows.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/curves.hpp"
#include "tamis/dataset.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"

namespace tamis {

/// A model trained on a part of the training rows.
struct LearningPoint {
  Index rows = 0;             ///< trained on
  double error = 0;           ///< on the test rows: share of wrong rows, or mean squared error
  double training_error = 0;  ///< on rows that it was trained on, 10,000 at most: optimistic
  double train_seconds = 0;
  std::string failure;  ///< why there are no numbers: too few rows for the method. Empty: none.
};

/// Trains with the same options on a half, a quarter, an eighth and a sixteenth of the rows, each a
/// stratified random part of the one before (but not on fewer than 20 rows), and tests on `test`.
/// Ascending by rows; the last point is `whole`, a model trained on all of `train`. Throws
/// Cancelled.
TAMIS_EXPORT std::vector<LearningPoint> learning_curve(const Dataset& train, const Dataset& test,
                                                       const TrainOptions& options,
                                                       const Model& whole,
                                                       const RunControl& control = {});

struct ModelReport {
  /// Where the rows come from, and whether the model was trained on them: a sentence for the page.
  std::string measured_on;
  Evaluation evaluation;
  std::vector<ClassCurves> curves;  ///< classification
  Residuals residuals;              ///< regression
  std::string model;                ///< Model::describe()
  std::string method;
  Index features = 0;
  /// Columns and the weights learned for them (metric-rounds), the largest first, 100 at most;
  /// empty: none were learned.
  std::vector<std::pair<std::string, double>> feature_weights;

  /// Error on rows that the model was trained on, 10,000 at most (share or mean squared error): too
  /// good to be expected of new rows. Empty: not known.
  std::optional<double> training_error;

  // What a model does not know of itself: for the caller to fill in.
  std::optional<TrainReport> training;
  std::vector<LearningPoint> learning;
};

/// Sets model, method, features and feature_weights: where errors were measured with a model that
/// was trained on fewer rows, those of the one that they stand for.
TAMIS_EXPORT void describe_model(const Model& model, ModelReport* report);

/// Measures the model on the rows, and describes it. `trained_on`: the rows that it was trained on,
/// or null. Throws as evaluate() does.
TAMIS_EXPORT ModelReport measure_model(const Model& model, const Dataset& data,
                                       const Dataset* trained_on = nullptr,
                                       const RunControl& control = {});

}  // namespace tamis

// What the errors of a model are like: ROC and precision-recall curves, calibration, residuals.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tamis/calibrate.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/predict.hpp"

namespace tamis {

struct CurvePoint {
  double x = 0;
  double y = 0;
};

/// The rows whose probability of a class is in [low, high).
struct CalibrationBin {
  double low = 0;
  double high = 0;
  Index rows = 0;
  double mean_probability = 0;
  double frequency = 0;  ///< the fraction of them that belong to the class
};

/// How well decision values tell one class from all others. Rows of a class that the model does not
/// know are among the others; row weights are not used.
struct ClassCurves {
  std::string label;
  Index rows = 0;    ///< of this class
  Index others = 0;  ///< without both, there are no curves
  /// False positive rate and recall, from (0, 0) to (1, 1). Thinned: points closer than about 0.005
  /// to the one before are dropped; the areas are those of all points.
  std::vector<CurvePoint> roc;
  /// Recall and precision, recall ascending.
  std::vector<CurvePoint> precision;
  /// Probability that a row of the class has a larger value than one of the others; ties count
  /// half.
  double roc_area = std::numeric_limits<double>::quiet_NaN();
  /// Mean precision over the recall that each threshold adds.
  double average_precision = std::numeric_limits<double>::quiet_NaN();
  /// Models with probabilities: ten bins of equal width, those without rows left out.
  std::vector<CalibrationBin> calibration;
  /// Mean of |frequency - mean probability| over the rows (expected calibration error).
  double calibration_error = std::numeric_limits<double>::quiet_NaN();
};

/// Of a classifier of two classes, the curves of the first; of one with more, those of each class
/// against the rest, for the 30 classes with the most rows, in the model's order. A class's value
/// is its decision value where it has one of its own; with one SVM per pair of classes, it is its
/// number of votes, and the sum of its values, shrunk below one vote, decides among equals
/// (scikit-learn's convention). Empty for a regression or a single class.
TAMIS_EXPORT std::vector<ClassCurves> class_curves(const Model& model, const Dataset& data,
                                                   const DecisionValues& values,
                                                   const RunControl& control = {});

/// Predicted minus actual, of a regression.
struct Residuals {
  double low = 0;  ///< smallest and largest
  double high = 0;
  std::vector<Index> histogram;  ///< rows in each of 30 bins of equal width between them
  /// Actual and predicted value of at most 1,000 rows, evenly spaced.
  std::vector<CurvePoint> sample;
};

/// Empty for a classifier. Throws DataError when labels are words.
TAMIS_EXPORT Residuals residuals(const Model& model, const Dataset& data,
                                 const DecisionValues& values);

struct ErrorInterval {
  double low = 0;
  double high = 1;
};

/// The error rates that this number of errors among random rows is compatible with, at a
/// confidence of 95 % (Wilson's interval).
TAMIS_EXPORT ErrorInterval error_interval(Index errors, Index rows);

}  // namespace tamis

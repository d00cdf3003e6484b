// What turns decision values into probabilities of classes.
#pragma once

#include <span>
#include <vector>

#include "model/decision.hpp"
#include "model/machine.hpp"
#include "tamis/calibrate.hpp"

namespace tamis {

/// One machine's decision value to the probability of its first class (or of its class, against
/// the rest).
struct Calibrator {
  // Sigmoid: 1 / (1 + exp(slope * f + intercept)).
  double slope = 0;
  double intercept = 0;
  // Isotonic: straight lines between points, constant outside. Both rise; at least one point.
  std::vector<double> values;
  std::vector<double> probabilities;
};

struct Calibration {
  CalibrationMethod method = CalibrationMethod::sigmoid;
  Decision decision = Decision::single;
  Index num_classes = 0;
  std::vector<Calibrator> machines;

  /// Throws DataError unless counts fit, numbers are finite, points rise and probabilities are in
  /// [0, 1].
  void validate() const;
  /// From the values of all machines for one row to one probability a class.
  void apply(std::span<const double> values, std::span<double> probabilities) const;
};

double calibrated(CalibrationMethod method, const Calibrator& calibrator, double value);

}  // namespace tamis

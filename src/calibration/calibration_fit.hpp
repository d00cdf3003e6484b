// Fitting a calibration to scored rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "calibration/calibration.hpp"
#include "tamis/predict.hpp"

namespace tamis {

/// A row of one of the two classes of a machine.
struct ScoredRow {
  double value = 0;       ///< of the decision function
  bool is_first = false;  ///< of the class that positive values stand for
  double weight = 1;      ///< > 0
};

/// The sigmoid of greatest likelihood. J. Platt, "Probabilistic outputs for support vector
/// machines", 1999, with his targets (n + 1) / (n + 2) and 1 / (n + 2) instead of 1 and 0; by
/// Newton's method in the form of H.-T. Lin, C.-J. Lin, R. C. Weng, "A note on Platt's
/// probabilistic outputs for support vector machines", 2007, which neither overflows nor cancels.
Calibrator fit_sigmoid(std::span<const ScoredRow> rows);

/// The rising step function of least squared error (pool adjacent violators), made continuous by
/// lines between its steps. With Platt's targets too, so that no probability is 0 or 1 on the
/// strength of a few rows.
Calibrator fit_isotonic(std::vector<ScoredRow> rows);

/// One calibrator a machine, from the values of all machines for every row. `codes`: class of each
/// row. `weights`: of the rows, empty when all weigh 1. Pairs of classes look at their own rows
/// only.
std::shared_ptr<const Calibration> fit_calibration(CalibrationMethod method, Decision decision,
                                                   Index num_classes, const DecisionValues& scores,
                                                   std::span<const std::int32_t> codes,
                                                   std::span<const double> weights);

}  // namespace tamis

#include "calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "calibration/pairwise_coupling.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// LIBSVM's: keeps one machine that is sure from overruling all others.
constexpr double kLeastPairProbability = 1e-7;

double sigmoid(double z) {
  return z >= 0 ? std::exp(-z) / (1 + std::exp(-z)) : 1 / (1 + std::exp(z));
}

// The value of the line through the points at `value`.
double interpolate(const Calibrator& points, double value) {
  const auto after = std::upper_bound(points.values.begin(), points.values.end(), value);
  if (after == points.values.begin()) return points.probabilities.front();
  if (after == points.values.end()) return points.probabilities.back();
  const auto i = static_cast<std::size_t>(after - points.values.begin());
  const double share = (value - points.values[i - 1]) / (points.values[i] - points.values[i - 1]);
  return points.probabilities[i - 1] +
         share * (points.probabilities[i] - points.probabilities[i - 1]);
}

void validate_points(const Calibrator& points) {
  if (points.values.empty() || points.values.size() != points.probabilities.size())
    throw DataError("the points of an isotonic calibration do not fit together");
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    const double p = points.probabilities[i];
    if (!std::isfinite(points.values[i]) || !(p >= 0 && p <= 1))
      throw DataError("a point of an isotonic calibration is out of range");
    if (i > 0 && (points.values[i] <= points.values[i - 1] || p < points.probabilities[i - 1]))
      throw DataError("the points of an isotonic calibration must rise");
  }
}

void normalise(std::span<double> probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum += p;
  for (double& p : probabilities)
    p = sum > 0 ? p / sum : 1 / static_cast<double>(probabilities.size());
}

}  // namespace

std::string_view calibration_name(CalibrationMethod method) {
  return method == CalibrationMethod::sigmoid ? "sigmoid" : "isotonic";
}

CalibrationMethod parse_calibration_method(std::string_view name) {
  if (name == "sigmoid") return CalibrationMethod::sigmoid;
  if (name == "isotonic") return CalibrationMethod::isotonic;
  throw InvalidArgument(fmt::format("there is no calibration '{}': sigmoid or isotonic", name));
}

double calibrated(CalibrationMethod method, const Calibrator& calibrator, double value) {
  if (method == CalibrationMethod::isotonic) return interpolate(calibrator, value);
  return sigmoid(calibrator.slope * value + calibrator.intercept);
}

void Calibration::validate() const {
  if (num_classes < 2 || num_machines(decision, num_classes) != static_cast<Index>(machines.size()))
    throw DataError(fmt::format("a calibration of {} for {} ({})",
                                counted(machines.size(), "binary SVM"),
                                counted(num_classes, "class"), decision_name(decision)));
  for (const Calibrator& machine : machines) {
    if (method == CalibrationMethod::isotonic)
      validate_points(machine);
    else if (!std::isfinite(machine.slope) || !std::isfinite(machine.intercept))
      throw DataError("a number of the calibration is not finite");
  }
}

void Calibration::apply(std::span<const double> values, std::span<double> probabilities) const {
  TAMIS_CHECK(values.size() == machines.size() &&
              static_cast<Index>(probabilities.size()) == num_classes);
  if (decision == Decision::single) {
    probabilities[0] = calibrated(method, machines[0], values[0]);
    probabilities[1] = 1 - probabilities[0];
    return;
  }
  if (decision == Decision::one_vs_rest) {
    for (std::size_t c = 0; c < machines.size(); ++c)
      probabilities[c] = calibrated(method, machines[c], values[c]);
    normalise(probabilities);
    return;
  }
  std::vector<double> pairs(machines.size());
  for (std::size_t m = 0; m < machines.size(); ++m) {
    pairs[m] = std::clamp(calibrated(method, machines[m], values[m]), kLeastPairProbability,
                          1 - kLeastPairProbability);
  }
  couple_pairs(pairs, probabilities);
}

}  // namespace tamis

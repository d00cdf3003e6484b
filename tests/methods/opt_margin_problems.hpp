// What the tests of random sampling share: problems, settings, and numbers of the report.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {

inline TrainOptions settings(const std::string& method, KernelType kernel, double eps = 1e-4) {
  TrainOptions options;
  options.method = method;
  options.kernel = kernel;
  options.gamma = {Gamma::Rule::value, 0.5};
  options.coef0 = 1;
  options.degree = 2;
  options.eps = eps;
  options.opt_margin.draw = 30;  // small, so that small problems take several rounds
  return options;
}

inline std::optional<double> detail_if_any(const TrainReport& report, const std::string& name) {
  for (const auto& [key, value] : report.details) {
    if (key == name) return value;
  }
  return std::nullopt;
}

inline double detail(const TrainReport& report, const std::string& name) {
  const std::optional<double> value = detail_if_any(report, name);
  if (!value) ADD_FAILURE() << "the report has no " << name;
  return value.value_or(0);
}

/// Two classes on both sides of a plane, `apart` from it; `flipped` of the labels are wrong.
inline Dataset halves(Index rows, Index cols, std::uint64_t seed, double apart,
                      double flipped = 0) {
  Random random(seed, 3);
  std::vector<float> values;
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    const double label = i % 2 == 0 ? 1 : -1;
    for (Index j = 0; j < cols; ++j) values.push_back(static_cast<float>(random.normal()));
    float& first = values[usize(i * cols)];
    first = static_cast<float>(label * (apart + std::abs(static_cast<double>(first))));
    labels.push_back(random.uniform() < flipped ? -label : label);
  }
  return Dataset(Matrix::dense(rows, cols, std::move(values)), Labels::numeric(std::move(labels)));
}

inline constexpr KernelType kKernels[] = {KernelType::linear, KernelType::polynomial,
                                          KernelType::rbf};

}  // namespace tamis::testing

// Random small problems for comparisons: every kind of task and kernel that LIBSVM and LIBLINEAR
// have, parameters over 12 orders of magnitude, columns of any scale, repeated rows.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/random_data.hpp"
#include "tamis/options.hpp"

namespace tamis::testing {

enum class Oracle { libsvm, liblinear };

struct RandomProblem {
  Oracle oracle = Oracle::libsvm;
  Matrix features;
  std::vector<double> labels;
  TrainOptions options;
  int classes = 2;  ///< 0: regression

  bool is_regression() const { return classes == 0; }
  /// Whether the kernel matrix has no negative eigenvalues: only then is there one optimum, and a
  /// duality gap that says how far it is.
  bool is_convex() const {
    return oracle == Oracle::liblinear || options.kernel_or_default() == KernelType::linear ||
           options.kernel_or_default() == KernelType::rbf ||
           (options.kernel_or_default() == KernelType::polynomial && options.coef0 >= 0);
  }
  Dataset data() const { return Dataset(features, Labels::numeric(labels)); }
  std::string text() const {
    return fmt::format(
        "{} {} rows {} columns {} classes, {} gamma {:.3g} coef0 {:.3g} degree {}, C {:.3g} {} "
        "tube {:.3g} bias {}",
        oracle == Oracle::libsvm ? "LIBSVM" : "LIBLINEAR", features.rows(), features.cols(),
        classes, kernel_name(options.kernel_or_default()), options.gamma_or_default().value,
        options.coef0, options.degree, options.cost_or_default(),
        options.loss == SlackLoss::l1 ? "l1" : "l2", options.tube_or_default(),
        options.bias.rule == Bias::Rule::penalized ? options.bias.value : -1.0);
  }
};

/// 10^-6 to 10^6, evenly on the logarithmic scale.
inline double any_magnitude(Random& random) { return std::pow(10.0, random.uniform(-6, 6)); }

// Normal values, whole numbers or zeros and ones; all of one scale or each column of its own.
inline Matrix random_features(Index rows, Index cols, Random& random) {
  const auto kind = random.below(3);
  const bool own_scales = random.below(4) == 0;
  const double scale = random.below(2) == 0 ? 1 : any_magnitude(random);
  std::vector<double> factors;
  for (Index j = 0; j < cols; ++j) factors.push_back(own_scales ? any_magnitude(random) : scale);
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    const bool copy = i > 0 && random.below(8) == 0;
    const std::size_t from = usize((copy ? random.below(i) : 0) * cols);
    for (Index j = 0; j < cols; ++j) {
      const double drawn = kind == 0   ? random.normal()
                           : kind == 1 ? static_cast<double>(random.below(7) - 3)
                                       : static_cast<double>(random.below(2));
      values.push_back(copy ? values[from + usize(j)]
                            : static_cast<float>(drawn * factors[usize(j)]));
    }
  }
  return Matrix::dense(rows, cols, std::move(values));
}

// Classes follow the first column with noise, so that they can be learned in part.
inline std::vector<double> random_labels(const RandomProblem& problem, Random& random) {
  const double noise = random.uniform(0, 2);
  const double target_scale = random.below(2) == 0 ? 1 : any_magnitude(random);
  double spread = 0;
  for (Index i = 0; i < problem.features.rows(); ++i)
    spread = std::max(spread, std::abs(static_cast<double>(problem.features.at(i, 0))));
  std::vector<double> labels;
  for (Index i = 0; i < problem.features.rows(); ++i) {
    const double x = spread > 0 ? static_cast<double>(problem.features.at(i, 0)) / spread : 0;
    const double value = x + noise * random.normal();
    if (problem.is_regression()) {
      labels.push_back(value * target_scale);
    } else if (i < problem.classes) {
      labels.push_back(static_cast<double>(i + 1));  // every class is there
    } else {
      const double place = (value + 1.5) / 3 * problem.classes;
      labels.push_back(std::floor(std::clamp(place, 0.0, problem.classes - 0.5)) + 1);
    }
  }
  return labels;
}

inline void choose_kernel(TrainOptions& options, Random& random) {
  static constexpr KernelType kKernels[] = {KernelType::linear, KernelType::polynomial,
                                            KernelType::rbf, KernelType::rbf, KernelType::sigmoid};
  options.kernel = kKernels[random.below(5)];
  options.gamma = Gamma(any_magnitude(random));
  if (options.kernel_or_default() == KernelType::polynomial ||
      options.kernel_or_default() == KernelType::sigmoid) {
    options.coef0 = random.below(2) == 0 ? 0 : any_magnitude(random);
    if (random.below(4) == 0) options.coef0 = -options.coef0;
    options.degree = static_cast<int>(1 + random.below(random.below(8) == 0 ? 20 : 4));
  }
}

/// The problem of this number; the same everywhere.
inline RandomProblem random_problem(std::uint64_t seed, std::uint64_t number) {
  Random random(seed, number);
  RandomProblem problem;
  problem.oracle = random.below(4) == 0 ? Oracle::liblinear : Oracle::libsvm;
  const bool linear = problem.oracle == Oracle::liblinear;
  const auto task = random.below(4);
  problem.classes = task == 0 ? 0 : task == 1 ? static_cast<int>(3 + random.below(3)) : 2;
  TrainOptions& options = problem.options;
  options.method = linear ? "linear" : "exact";
  options.task = problem.is_regression() ? Task::regression : Task::classification;
  options.cost = any_magnitude(random);
  options.tube = random.below(4) == 0 ? 0 : any_magnitude(random) * 1e-3;
  if (linear) {
    options.multiclass = Multiclass::one_vs_rest;
    options.loss = random.below(2) == 0 ? SlackLoss::l1 : SlackLoss::l2;
    options.bias = {};
    if (random.below(2) == 0)
      options.bias = {Bias::Rule::penalized, random.below(2) == 0 ? 1.0 : 10.0};
  } else {
    choose_kernel(options, random);
  }
  const Index rows = std::max<Index>(2 + random.below(60), problem.classes);
  problem.features = random_features(rows, 1 + random.below(6), random);
  problem.labels = random_labels(problem, random);
  if (!problem.is_regression() && random.below(3) == 0) {
    for (int c = 1; c <= problem.classes; ++c)
      options.class_weights.emplace_back(std::to_string(c), std::pow(10.0, random.uniform(-3, 3)));
  }
  return problem;
}

}  // namespace tamis::testing

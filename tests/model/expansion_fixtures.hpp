// Random expansions and rows, and the formula they must follow.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "kernels/kernel_value.hpp"
#include "model/kernel_expansion.hpp"

namespace tamis {

/// About a third of the values is zero, so that sparse rows are sparse.
inline Matrix random_rows(Index rows, Index cols, Random& random) {
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (float& value : values)
    value = random.uniform() < 0.33 ? 0.0F : static_cast<float>(random.uniform(-1, 1));
  return Matrix::dense(rows, cols, std::move(values));
}

/// Column 0: serial numbers 1 .. rows; then kernel values with `points` points.
inline Matrix random_precomputed(Index rows, Index points, Random& random) {
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(i + 1));
    for (Index j = 0; j < points; ++j) values.push_back(static_cast<float>(random.uniform()));
  }
  return Matrix::dense(rows, points + 1, std::move(values));
}

inline std::vector<Kernel> all_kernels() {
  return {{KernelType::linear},
          {KernelType::polynomial, 0.5, 1.0, 2},
          {KernelType::rbf, 0.7},
          {KernelType::sigmoid, 0.3, -0.2},
          {KernelType::laplacian, 0.4}};
}

/// `classes` matters for more than one machine only.
inline ExpansionParts random_parts(const Kernel& kernel, Matrix support_vectors, Decision decision,
                                   Index classes, Random& random) {
  ExpansionParts parts;
  parts.kernel = kernel;
  parts.decision = decision;
  const Index l = support_vectors.rows();
  Index coefficient_rows = num_machines(decision, classes);
  parts.offsets.resize(static_cast<std::size_t>(coefficient_rows));
  if (decision == Decision::one_vs_one) {
    coefficient_rows = classes - 1;
    parts.class_counts.assign(static_cast<std::size_t>(classes), 0);
    for (Index s = 0; s < l; ++s)
      ++parts.class_counts[static_cast<std::size_t>(random.below(classes))];
  }
  parts.coefficients.resize(static_cast<std::size_t>(coefficient_rows * l));
  for (double& value : parts.coefficients) value = random.uniform(-2, 2);
  for (double& value : parts.offsets) value = random.uniform(-1, 1);
  parts.support_vectors = std::move(support_vectors);
  return parts;
}

/// Machine m on row i, by the definition in kernel_expansion.hpp and nothing else.
inline double naive_value(const ExpansionParts& parts, Index machine, const Matrix& rows, Index i) {
  const Index l = parts.support_vectors.rows();
  double sum = parts.offsets[static_cast<std::size_t>(machine)];
  const auto add = [&](Index coefficient_row, Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      sum += parts.coefficients[static_cast<std::size_t>(coefficient_row * l + s)] *
             kernel_value(parts.kernel, rows, i, parts.support_vectors, s);
    }
  };
  if (parts.decision != Decision::one_vs_one) {
    add(machine, 0, l);
    return sum;
  }
  std::vector<Index> start{0};
  for (const Index count : parts.class_counts) start.push_back(start.back() + count);
  Index pair = 0;
  for (std::size_t a = 0; a < parts.class_counts.size(); ++a) {
    for (std::size_t b = a + 1; b < parts.class_counts.size(); ++b, ++pair) {
      if (pair != machine) continue;
      add(static_cast<Index>(b) - 1, start[a], start[a + 1]);
      add(static_cast<Index>(a), start[b], start[b + 1]);
    }
  }
  return sum;
}

}  // namespace tamis

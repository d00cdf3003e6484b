#include "model/decision_gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "kernels/kernel_value.hpp"
#include "model/expansion_fixtures.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// The decision value of machine m at a point, straight from the formula.
double value_at(const KernelExpansion& machine, Index m, const std::vector<double>& point) {
  double sum = 0;
  for (const Segment& segment : machine.segments(m)) {
    for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
      double product = 0;
      double distance = 0;
      double size = 0;
      for (std::size_t j = 0; j < point.size(); ++j) {
        const double z =
            static_cast<double>(machine.support_vectors().at(s, static_cast<Index>(j)));
        product += point[j] * z;
        distance += (point[j] - z) * (point[j] - z);
        size += std::abs(point[j] - z);
      }
      const Kernel& k = machine.kernel();
      const double inner = k.gamma * product + k.coef0;
      const double value = k.type == KernelType::rbf          ? std::exp(-k.gamma * distance)
                           : k.type == KernelType::laplacian  ? std::exp(-k.gamma * size)
                           : k.type == KernelType::polynomial ? std::pow(inner, k.degree)
                           : k.type == KernelType::sigmoid    ? std::tanh(inner)
                                                              : product;
      sum += machine.parts().coefficients[usize(segment.coefficient_begin + s - segment.sv_begin)] *
             value;
    }
  }
  return sum;
}

// Products of slopes, from differences of decision values on both sides of each row.
std::vector<double> naive_products(const KernelExpansion& machine, const Matrix& rows) {
  constexpr double kStep = 1e-5;
  const std::size_t cols = usize(rows.cols());
  std::vector<double> sums(cols * cols, 0.0);
  for (Index i = 0; i < rows.rows(); ++i) {
    std::vector<double> point;
    for (Index j = 0; j < rows.cols(); ++j) point.push_back(static_cast<double>(rows.at(i, j)));
    for (Index m = 0; m < machine.num_machines(); ++m) {
      std::vector<double> slopes;
      for (std::size_t j = 0; j < cols; ++j) {
        std::vector<double> above = point;
        std::vector<double> below = point;
        above[j] += kStep;
        below[j] -= kStep;
        slopes.push_back((value_at(machine, m, above) - value_at(machine, m, below)) / (2 * kStep));
      }
      const auto count = static_cast<double>(rows.rows() * machine.num_machines());
      for (std::size_t j = 0; j < cols; ++j) {
        for (std::size_t k = 0; k < cols; ++k) sums[j * cols + k] += slopes[j] * slopes[k] / count;
      }
    }
  }
  return sums;
}

TEST(DecisionGradients, AgreeWithFiniteDifferences) {
  Random random(5);
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.type == KernelType::precomputed) continue;
    for (const Decision decision :
         {Decision::single, Decision::one_vs_one, Decision::one_vs_rest}) {
      SCOPED_TRACE(std::string(kernel_name(kernel.type)) + std::string(decision_name(decision)));
      const Matrix vectors = random_rows(30, 4, random);
      const Matrix rows = random_rows(70, 4, random);
      const Index classes = decision == Decision::single ? 2 : 3;
      ExpansionParts parts = random_parts(kernel, vectors, decision, classes, random);
      const KernelExpansion dense(parts);
      const std::vector<double> products = naive_products(dense, rows);
      parts.support_vectors = vectors.to_sparse();
      const KernelExpansion sparse(parts);
      const auto found = mean_squared_gradients(dense, rows, {});
      const auto found_sparse = mean_squared_gradients(sparse, rows.to_sparse(), {});
      ASSERT_EQ(found.size(), 4U);
      const auto found_products = mean_gradient_products(dense, rows, {});
      const auto sparse_products = mean_gradient_products(sparse, rows.to_sparse(), {});
      ASSERT_EQ(found_products.size(), 16U);
      for (std::size_t j = 0; j < 4; ++j) {
        const double expected = products[j * 4 + j];
        EXPECT_GT(expected, 0);
        EXPECT_NEAR(found[j], expected, 1e-5 * expected);
        EXPECT_NEAR(found_sparse[j], expected, 1e-5 * expected);
        for (std::size_t k = 0; k < 4; ++k) {
          const double size = std::sqrt(expected * products[k * 4 + k]);
          EXPECT_NEAR(found_products[j * 4 + k], products[j * 4 + k], 1e-5 * size);
          EXPECT_NEAR(sparse_products[j * 4 + k], products[j * 4 + k], 1e-5 * size);
          EXPECT_EQ(found_products[j * 4 + k], found_products[k * 4 + j]);
        }
      }
    }
  }
}

TEST(DecisionGradients, AreZeroWhereNothingDependsOnAColumn) {
  // One support vector that differs from the rows in column 0 only.
  ExpansionParts parts;
  parts.kernel = {KernelType::rbf, 0.5};
  parts.support_vectors = Matrix::dense(1, 2, {1, 3});
  parts.coefficients = {2};
  parts.offsets = {0};
  const auto found =
      mean_squared_gradients(KernelExpansion(parts), Matrix::dense(1, 2, {0, 3}), {});
  const double slope = 2 * 2 * 0.5 * std::exp(-0.5);
  EXPECT_NEAR(found[0], slope * slope, 1e-12);
  EXPECT_EQ(found[1], 0);
}

TEST(DecisionGradients, DoNotDependOnThreadsAndCanBeCancelled) {
  Random random(6);
  const KernelExpansion machine(random_parts({KernelType::rbf, 0.3}, random_rows(40, 5, random),
                                             Decision::one_vs_one, 3, random));
  const Matrix rows = random_rows(333, 5, random);
  const auto one = with_threads(1, [&] { return mean_squared_gradients(machine, rows, {}); });
  const auto many = with_threads(5, [&] { return mean_squared_gradients(machine, rows, {}); });
  EXPECT_EQ(one, many);
  EXPECT_EQ(with_threads(1, [&] { return mean_gradient_products(machine, rows, {}); }),
            with_threads(5, [&] { return mean_gradient_products(machine, rows, {}); }));
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  EXPECT_THROW(mean_squared_gradients(machine, rows, control), Cancelled);
}

}  // namespace
}  // namespace tamis

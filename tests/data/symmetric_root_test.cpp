#include "data/symmetric_root.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/checked.hpp"
#include "base/random.hpp"

namespace tamis {
namespace {

// B B^T, of rank `rank`.
std::vector<double> random_squares(Index n, Index rank, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> factors(usize(n * rank));
  for (double& value : factors) value = random.normal();
  std::vector<double> matrix(usize(n * n), 0.0);
  for (std::size_t i = 0; i < usize(n); ++i) {
    for (std::size_t j = 0; j < usize(n); ++j) {
      for (std::size_t r = 0; r < usize(rank); ++r)
        matrix[i * usize(n) + j] += factors[i * usize(rank) + r] * factors[j * usize(rank) + r];
    }
  }
  return matrix;
}

TEST(SymmetricRoot, ItsSquareIsTheMatrix) {
  for (const auto& [n, rank] : {std::pair<Index, Index>{1, 1}, {2, 2}, {7, 7}, {20, 3}, {60, 60}}) {
    const std::vector<double> matrix = random_squares(n, rank, 1);
    const std::vector<double> root = symmetric_root(matrix, n);
    const std::vector<double> square = matrix_product(root, root, n);
    for (std::size_t i = 0; i < usize(n); ++i) {
      EXPECT_GE(root[i * usize(n) + i], 0);
      for (std::size_t j = 0; j < usize(n); ++j) {
        EXPECT_NEAR(square[i * usize(n) + j], matrix[i * usize(n) + j], 1e-9) << n;
        EXPECT_NEAR(root[i * usize(n) + j], root[j * usize(n) + i], 1e-9);
      }
    }
  }
}

TEST(SymmetricRoot, OfADiagonalMatrixIsTheRootOfEachElement) {
  const std::vector<double> root = symmetric_root({4, 0, 0, 9}, 2);
  EXPECT_EQ(root, (std::vector<double>{2, 0, 0, 3}));
  // Rounding leaves eigenvalues below zero.
  EXPECT_EQ(symmetric_root({-1e-20}, 1), std::vector<double>{0});
  EXPECT_EQ(symmetric_root(std::vector<double>(9, 0.0), 3), std::vector<double>(9, 0.0));
}

}  // namespace
}  // namespace tamis

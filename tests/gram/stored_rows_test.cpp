// Parts of a stored kernel matrix against the formula in double.
#include "gram/stored_rows.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "kernels/kernel_value.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

const std::vector<Kernel> kKernels{
    {.type = KernelType::linear},
    {.type = KernelType::polynomial, .gamma = 0.1, .coef0 = 1, .degree = 3},
    {.type = KernelType::rbf, .gamma = 0.05},
    {.type = KernelType::sigmoid, .gamma = 0.02, .coef0 = -0.1},
};

TEST(StoredRows, FinishedValuesAreTheKernels) {
  for (const bool sparse : {false, true}) {
    const Matrix dense = random_matrix(45, 7, 3, 0.5);
    const Matrix data = sparse ? dense.to_sparse() : dense;
    for (const Kernel& kernel : kKernels) {
      const StoredMatrix stored = StoredMatrix::unfinished(kernel.type, data).finished(kernel);
      for (Index i = 0; i < 45; ++i) {
        for (Index j = 0; j < 45; ++j) {
          const double expected = kernel_value(kernel, data, i, data, j);
          ASSERT_NEAR(static_cast<double>(stored.row(i)[j]), expected,
                      2e-5 * (1 + std::abs(expected)))
              << kernel_name(kernel.type) << " " << i << " " << j;
        }
      }
    }
  }
}

TEST(StoredRows, AMatrixIsNotFinishedWhereItMustStop) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.1};
  const Matrix data = random_matrix(300, 4, 5);
  std::atomic<int> asked = 0;
  const auto soon = [&] { return ++asked > 2; };
  EXPECT_THROW(StoredMatrix::unfinished(kernel.type, data, soon), Cancelled);
  const StoredMatrix stored = StoredMatrix::unfinished(kernel.type, data);
  asked = 0;
  EXPECT_THROW(stored.finished(kernel, soon), Cancelled);
}

TEST(StoredRows, SumsAreOfTheChosenPoints) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.1};
  const Matrix data = random_matrix(60, 4, 5);
  const StoredMatrix stored = StoredMatrix::unfinished(kernel.type, data).finished(kernel);
  std::vector<Index> rows;  // every third row is not a point
  for (Index i = 0; i < 60; ++i) {
    if (i % 3 != 1) rows.push_back(i);
  }
  StoredRows source(stored, rows);
  const std::vector<Index> from{0, 7, 31};
  const std::vector<double> coefficients{0.5, -2, 3};
  // Few points take another way than many.
  for (const Index count : {Index{5}, Index{40}}) {
    const std::vector<Index> points = iota_rows(count);
    std::vector<double> sums(usize(count), 1.0);
    std::vector<double> other = sums;
    source.set_active(points);
    ASSERT_TRUE(source.accumulate(from, coefficients, sums));
    ASSERT_TRUE(source.accumulate_at(points, from, coefficients, other));
    for (Index p = 0; p < count; ++p) {
      double expected = 1;
      for (std::size_t r = 0; r < from.size(); ++r)
        expected += coefficients[r] *
                    kernel_value(kernel, data, rows[usize(from[r])], data, rows[usize(p)]);
      EXPECT_NEAR(sums[usize(p)], expected, 1e-5);
      EXPECT_EQ(sums[usize(p)], other[usize(p)]);
    }
  }
}

TEST(StoredRows, SquaresArePaddedAndHaveNoRest) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.1};
  const Matrix data = random_matrix(30, 4, 6);
  const StoredMatrix stored = StoredMatrix::unfinished(kernel.type, data).finished(kernel);
  StoredRows source(stored, {2, 4, 8, 16});
  const std::vector<Index> points{3, 0};
  std::vector<float> block(32, 9);
  std::vector<float> rest(32, 9);
  ASSERT_TRUE(source.precise_square(points, block.data(), rest.data(), 16));
  EXPECT_EQ(block[0], 1);
  EXPECT_EQ(block[1], stored.row(16)[2]);
  EXPECT_EQ(block[16], stored.row(2)[16]);
  EXPECT_EQ(block[5], 0);
  EXPECT_EQ(rest[1], 0);
  std::vector<double> rows(8);
  ASSERT_TRUE(source.precise_rows(points, rows.data()));
  EXPECT_EQ(rows[1], static_cast<double>(stored.row(16)[4]));
  EXPECT_EQ(rows[6], static_cast<double>(stored.row(2)[8]));
}

}  // namespace
}  // namespace tamis::testing

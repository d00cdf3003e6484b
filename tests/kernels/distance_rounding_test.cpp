// The formula for dense rows against what the kernels really compute, next to double. That for
// sparse rows: tests/training/prepare_test.cpp.
#include "kernels/distance_rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "kernels/kernel_blocks.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

TEST(DistanceRounding, OfDenseRowsIsAsPredicted) {
  for (const Index cols : {16, 54, 300}) {
    // Rows of odd number are near copies of the ones before: there the rounding matters most.
    const Index rows = 400;
    Random random(7);
    std::vector<float> values(static_cast<std::size_t>(rows * cols));
    double norm = 0;
    for (Index i = 0; i < rows * cols; ++i) {
      float& value = values[static_cast<std::size_t>(i)];
      value = i / cols % 2 == 1 ? values[static_cast<std::size_t>(i - cols)] +
                                      static_cast<float>(0.05 * random.normal())
                                : static_cast<float>(random.normal());
      norm += static_cast<double>(value) * static_cast<double>(value) / static_cast<double>(rows);
    }
    const Matrix data = Matrix::dense(rows, cols, std::move(values));
    const Kernel kernel{.gamma = 1};  // K near 1, so that its rounding is that of the distance
    const KernelBlocks blocks(kernel, data, {}, nullptr, DistanceBy::products);
    std::vector<float> got(static_cast<std::size_t>(rows));
    double squares = 0;
    for (Index i = 0; i < rows; i += 2) {
      blocks.evaluate(data, std::vector<Index>{i}, 0, rows, got.data(), rows);
      const double expected = kernel_value(kernel, data, i, data, i + 1);
      const double error = static_cast<double>(got[static_cast<std::size_t>(i + 1)]) / expected - 1;
      squares += error * error;
    }
    const double measured = std::sqrt(squares / (static_cast<double>(rows) / 2));
    const double predicted = dense_distance_rounding(norm, static_cast<double>(cols));
    EXPECT_GT(predicted, 0.7 * measured) << cols;
    EXPECT_LT(predicted, 4 * measured) << cols;
  }
}

TEST(DistanceRounding, ShowsWhereAnythingIsInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(shows_in_conditions(infinity, {.gamma = 1}, 1, 1e-3));
  EXPECT_TRUE(shows_in_conditions(1e-9, {.gamma = 1}, infinity, 1e-3));
  EXPECT_FALSE(shows_in_conditions(1e-9, {.gamma = 1}, 1, 1e-3));
}

}  // namespace
}  // namespace tamis

// K(x, x') + y y', each way the solver asks for it, against the formula in double.
#include "gram/tube_rows.hpp"

#include <gtest/gtest.h>

#include "support/naive_qp.hpp"

namespace tamis::testing {
namespace {

class TubeRowsTest : public ::testing::TestWithParam<KernelType> {
 protected:
  static constexpr Index kPoints = 40;

  TubeRowsTest()
      : kernel_{.type = GetParam(), .gamma = 0.3, .coef0 = 1, .degree = 2},
        data_(random_matrix(20, 3, 5)) {
    Random random(6);
    for (Index p = 0; p < kPoints; ++p) {  // every row twice, as a tube has them
      rows_.push_back(p % 20);
      responses_.push_back(random.uniform(-3, 3));
    }
  }
  double value(Index a, Index b) const {
    return kernel_value(kernel_, data_, rows_[usize(a)], data_, rows_[usize(b)]) +
           responses_[usize(a)] * responses_[usize(b)];
  }
  TubeRows make() const {
    return TubeRows(kernel_, data_, rows_, responses_, 1 << 20, [] { return false; });
  }

  Kernel kernel_;
  Matrix data_;
  std::vector<Index> rows_;
  std::vector<double> responses_;
};

TEST_P(TubeRowsTest, Squares) {
  TubeRows source = make();
  const std::vector<Index> points{3, 23, 0, 39, 7};
  std::vector<float> block(5 * 16);
  std::vector<float> exact(5 * 16);
  std::vector<float> rest(5 * 16);
  source.square(points, block.data(), 16);
  ASSERT_TRUE(source.precise_square(points, exact.data(), rest.data(), 16));
  for (std::size_t r = 0; r < 5; ++r) {
    EXPECT_NEAR(source.diagonal()[usize(points[r])], value(points[r], points[r]), 1e-5);
    for (std::size_t c = 0; c < 5; ++c) {
      const double expected = value(points[r], points[c]);
      EXPECT_NEAR(static_cast<double>(block[r * 16 + c]), expected, 1e-5);
      const double precise =
          static_cast<double>(exact[r * 16 + c]) + static_cast<double>(rest[r * 16 + c]);
      EXPECT_NEAR(precise, expected, 1e-11);
    }
  }
}

TEST_P(TubeRowsTest, PreciseRows) {
  TubeRows source = make();
  const std::vector<Index> points{3, 23, 0};
  std::vector<double> values(3 * kPoints);
  ASSERT_TRUE(source.precise_rows(points, values.data()));
  for (std::size_t r = 0; r < 3; ++r) {
    for (Index c = 0; c < kPoints; ++c)
      EXPECT_NEAR(values[r * kPoints + usize(c)], value(points[r], c), 1e-12);
  }
}

TEST_P(TubeRowsTest, Sums) {
  TubeRows source = make();
  const std::vector<Index> active{1, 5, 21, 30, 39};
  const std::vector<Index> from{2, 22, 8};
  const std::vector<double> coefficients{0.5, -0.25, 2};
  std::vector<double> sums(5, 1.0);
  std::vector<double> elsewhere(5, 1.0);
  source.set_active(active);
  ASSERT_TRUE(source.accumulate(from, coefficients, sums));
  ASSERT_TRUE(source.accumulate_at(active, from, coefficients, elsewhere));
  for (std::size_t p = 0; p < 5; ++p) {
    double expected = 1;
    for (std::size_t r = 0; r < 3; ++r) expected += coefficients[r] * value(from[r], active[p]);
    EXPECT_NEAR(sums[p], expected, 1e-5);
    EXPECT_NEAR(elsewhere[p], expected, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, TubeRowsTest,
                         ::testing::Values(KernelType::linear, KernelType::polynomial,
                                           KernelType::rbf));

}  // namespace
}  // namespace tamis::testing

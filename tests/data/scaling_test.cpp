#include "tamis/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

std::vector<float> values_of(const Matrix& m) {
  const Matrix dense = m.to_dense();
  return {dense.dense_values().begin(), dense.dense_values().end()};
}

TEST(Scaling, MinmaxMapsToTheRange) {
  const Matrix rows = Matrix::dense(3, 2, {1, -4, 2, 0, 3, 4});
  const Scaling scaling = Scaling::fit(rows, ScalingMethod::minmax, -1, 1);
  EXPECT_EQ(values_of(scaling.apply(rows)), (std::vector<float>{-1, -1, 0, 0, 1, 1}));
  EXPECT_EQ(scaling.apply(Matrix::dense(1, 2, {5, 8})).at(0, 0), 3);  // beyond what was seen
}

TEST(Scaling, StandardGivesMeanZeroAndDeviationOne) {
  const Matrix rows = Matrix::dense(4, 1, {1, 3, 1, 3});
  const Scaling scaling = Scaling::fit(rows, ScalingMethod::standard);
  EXPECT_EQ(values_of(scaling.apply(rows)), (std::vector<float>{-1, 1, -1, 1}));
}

TEST(Scaling, MaxabsDividesByTheLargestMagnitude) {
  const Matrix rows = Matrix::dense(2, 2, {1, 0, -4, 8});
  const Scaling scaling = Scaling::fit(rows, ScalingMethod::maxabs);
  EXPECT_EQ(values_of(scaling.apply(rows)), (std::vector<float>{0.25F, 0, -1, 1}));
}

TEST(Scaling, ConstantColumnsBecomeLower) {
  const Matrix rows = Matrix::dense(3, 2, {7, 0, 7, 0, 7, 0});
  for (const auto method :
       {ScalingMethod::minmax, ScalingMethod::standard, ScalingMethod::maxabs}) {
    const Scaling scaling = Scaling::fit(rows, method, -1, 1);
    for (const float value : values_of(scaling.apply(rows))) EXPECT_EQ(value, scaling.lower);
    EXPECT_EQ(scaling.apply(Matrix::dense(1, 2, {9, 9})).at(0, 0), scaling.lower);
  }
}

TEST(Scaling, IsStableFarFromZero) {
  std::vector<float> values;
  for (int i = 0; i < 100000; ++i) values.push_back(1e6F + static_cast<float>(i % 2));
  const Matrix rows = Matrix::dense(100000, 1, std::move(values));
  const Matrix scaled = Scaling::fit(rows, ScalingMethod::standard).apply(rows);
  EXPECT_NEAR(scaled.at(0, 0), -1, 1e-6);
  EXPECT_NEAR(scaled.at(1, 0), 1, 1e-6);
}

TEST(Scaling, SurvivesExtremeRanges) {
  const float max = std::numeric_limits<float>::max();
  const float tiny = std::numeric_limits<float>::denorm_min();
  for (const Matrix& rows : {Matrix::dense(2, 1, {-max, max}), Matrix::dense(2, 1, {0, tiny})}) {
    for (const auto method :
         {ScalingMethod::minmax, ScalingMethod::standard, ScalingMethod::maxabs}) {
      for (const float value : values_of(Scaling::fit(rows, method).apply(rows)))
        EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(Scaling, SparseAgreesWithDenseAndStaysSparseWhereItCan) {
  Random random(1);
  std::vector<float> values(3000 * 7);
  for (float& value : values)
    value = random.uniform() < 0.7 ? 0.0F : static_cast<float>(random.uniform(-3, 1));
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = 5;  // a full, constant column
  const Matrix dense = Matrix::dense(3000, 7, std::move(values));
  const Matrix sparse = dense.to_sparse();
  for (const auto method :
       {ScalingMethod::minmax, ScalingMethod::standard, ScalingMethod::maxabs}) {
    const Scaling a = Scaling::fit(dense, method, 0, 2);
    const Scaling b = Scaling::fit(sparse, method, 0, 2);
    for (std::size_t j = 0; j < 7; ++j) {
      EXPECT_NEAR(a.offset[j], b.offset[j], 1e-6F);
      EXPECT_NEAR(a.factor[j], b.factor[j], 1e-6F * a.factor[j]);
    }
    EXPECT_EQ(values_of(a.apply(dense)), values_of(a.apply(sparse)));
    EXPECT_EQ(a.apply(sparse).is_sparse(), method == ScalingMethod::maxabs);
  }
}

TEST(Scaling, DoesNotDependOnThreads) {
  Random random(2);
  std::vector<float> values(200000);
  for (float& value : values) value = static_cast<float>(random.normal());
  const Matrix rows = Matrix::dense(50000, 4, std::move(values));
  RunControl one;
  one.threads = 1;
  const Scaling expected = Scaling::fit(rows, ScalingMethod::standard, 0, 1, one);
  for (const int threads : {2, 5}) {
    RunControl many;
    many.threads = threads;
    const Scaling scaling = Scaling::fit(rows, ScalingMethod::standard, 0, 1, many);
    EXPECT_EQ(scaling.offset, expected.offset);
    EXPECT_EQ(scaling.factor, expected.factor);
  }
}

TEST(Scaling, RefusesWhatMakesNoSense) {
  const Matrix rows = Matrix::dense(2, 1, {0, 1});
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, 1, 1), InvalidArgument);
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, 0, INFINITY), InvalidArgument);
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, std::nan(""), 1), InvalidArgument);
  EXPECT_THROW(Scaling::fit(Matrix::dense(0, 1, {}), ScalingMethod::minmax), DataError);
  EXPECT_THROW(Scaling::fit(Matrix::dense(1, 2, {1, INFINITY}), ScalingMethod::minmax), DataError);
  EXPECT_THROW(Scaling::fit(Matrix::dense(1, 1, {std::nanf("")}), ScalingMethod::maxabs),
               DataError);
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax).apply(Matrix::dense(1, 2, {0, 0})),
               DataError);
  EXPECT_THROW(parse_scaling_method("zscore"), InvalidArgument);
  EXPECT_EQ(parse_scaling_method(scaling_name(ScalingMethod::maxabs)), ScalingMethod::maxabs);
  EXPECT_EQ(Scaling::fit(rows, ScalingMethod::none).apply(rows).dense_row(0).data(),
            rows.dense_row(0).data());
}

TEST(Scaling, KeepsToTheMemoryBudget) {
  RunControl control;
  control.memory_bytes = Index{1} << 30;
  const Matrix far = Matrix::sparse(2000000000, {0, 1}, {1999999999}, {1});
  EXPECT_THROW(Scaling::fit(far, ScalingMethod::maxabs, 0, 1, control), ResourceError);
  // The columns fit, but not the rows once their zeros are something else.
  constexpr Index kRows = 2000;
  constexpr std::int32_t kCols = 200000;
  std::vector<Index> row_begin(1, 0);
  for (Index i = 0; i < kRows; ++i) row_begin.push_back(i + 1);
  std::vector<float> values(kRows, 2.0F);
  values[0] = 1.0F;
  const Matrix wide =
      Matrix::sparse(kCols, row_begin, std::vector<std::int32_t>(kRows, kCols - 1), values);
  const Scaling standard = Scaling::fit(wide, ScalingMethod::standard, 0, 1, control);
  EXPECT_THROW(standard.apply(wide, control), ResourceError);
  const Scaling maxabs = Scaling::fit(wide, ScalingMethod::maxabs, 0, 1, control);
  EXPECT_TRUE(maxabs.apply(wide, control).is_sparse());
}

TEST(Scaling, CanBeCancelled) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const Matrix rows = Matrix::dense(2, 1, {0, 1});
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, 0, 1, control), Cancelled);
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax).apply(rows, control), Cancelled);
}

}  // namespace
}  // namespace tamis

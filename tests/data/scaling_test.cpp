#include "tamis/scaling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Scaling, RobustGivesMedianZeroAndTheQuartilesOfANormalDistribution) {
  const Matrix rows = Matrix::dense(5, 1, {1, 2, 3, 4, 1e6F});
  const Scaling scaling = Scaling::fit(rows, ScalingMethod::robust);
  const float quartile = 0.67448975F;
  EXPECT_EQ(scaling.scaled(0, 3), 0);
  EXPECT_FLOAT_EQ(scaling.scaled(0, 2), -quartile);
  EXPECT_FLOAT_EQ(scaling.scaled(0, 4), quartile);
  EXPECT_FLOAT_EQ(scaling.unscaled(0, quartile), 4);
  // Between rows: 1/4 of the way from 10 to 20.
  const Scaling four = Scaling::fit(Matrix::dense(2, 1, {10, 20}), ScalingMethod::robust);
  EXPECT_FLOAT_EQ(four.scaled(0, 12.5F), -quartile);
}

TEST(Scaling, RobustTakesTheDeviationWhereTheQuartilesAreEqual) {
  std::vector<float> values(100, 2.0F);
  values[7] = 12;
  const Scaling scaling = Scaling::fit(Matrix::dense(100, 1, values), ScalingMethod::robust);
  EXPECT_EQ(scaling.scaled(0, 2), 0);
  EXPECT_NEAR(scaling.scaled(0, 12), 10 / std::sqrt(0.99), 1e-5);
}

TEST(Scaling, QuantileGivesNormalScores) {
  const Matrix rows = Matrix::dense(4, 2, {5, 0, 1e30F, 0, 6, 0, -3, 1});
  const Scaling scaling = Scaling::fit(rows, ScalingMethod::quantile);
  // Ranks 1 to 4: the quantiles 1/8, 3/8, 5/8 and 7/8.
  EXPECT_FLOAT_EQ(scaling.scaled(0, -3), -1.1503494F);
  EXPECT_FLOAT_EQ(scaling.scaled(0, 5), -0.3186394F);
  EXPECT_FLOAT_EQ(scaling.scaled(0, 6), 0.3186394F);
  EXPECT_FLOAT_EQ(scaling.scaled(0, 1e30F), 1.1503494F);
  EXPECT_NEAR(scaling.scaled(0, 5.5F), 0, 1e-7);  // halfway between knots
  EXPECT_FLOAT_EQ(scaling.unscaled(0, scaling.scaled(0, 5.25F)), 5.25F);
  // Constant outside of them.
  EXPECT_EQ(scaling.scaled(0, -100), scaling.scaled(0, -3));
  EXPECT_EQ(scaling.scaled(0, 1e31F), scaling.scaled(0, 1e30F));
  // Three equal rows have the mean rank 2 of 4: the quantile 3/8.
  EXPECT_FLOAT_EQ(scaling.scaled(1, 0), -0.3186394F);
  EXPECT_FLOAT_EQ(scaling.scaled(1, 1), 1.1503494F);
}

// The reference: a column's own ranks, and the distribution function of the normal distribution.
TEST(Scaling, QuantileHasFewKnotsAndIsExactAtEach) {
  Random random(3);
  std::vector<float> values(20000);
  for (float& value : values) value = static_cast<float>(std::exp(3 * random.normal()));
  const Scaling scaling = Scaling::fit(Matrix::dense(20000, 1, values), ScalingMethod::quantile);
  std::sort(values.begin(), values.end());
  ASSERT_LE(static_cast<Index>(scaling.knots.values.size()), Scaling::kMaxKnots);
  EXPECT_GT(scaling.knots.values.size(), 100U);
  EXPECT_EQ(scaling.knots.values.front(), values.front());
  EXPECT_EQ(scaling.knots.values.back(), values.back());
  const auto share = [](double score) { return std::erfc(-score / std::sqrt(2.0)) / 2; };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rank = (static_cast<double>(i) + 0.5) / 20000;
    const bool is_knot =
        std::binary_search(scaling.knots.values.begin(), scaling.knots.values.end(), values[i]);
    EXPECT_NEAR(share(static_cast<double>(scaling.scaled(0, values[i]))), rank,
                is_knot ? 1e-7 : 4e-3);
  }
}

TEST(Scaling, QuantileKeepsSparseRowsSparse) {
  // 5 rows; column 0 has two zeros, column 1 none, column 2 nothing else.
  const Matrix rows = Matrix::dense(5, 3, {0, 1, 0, -2, 3, 0, 0, 5, 0, 4, 7, 0, 9, 9, 0});
  const Scaling dense = Scaling::fit(rows, ScalingMethod::quantile);
  const Scaling sparse = Scaling::fit(rows.to_sparse(), ScalingMethod::quantile);
  const Matrix scaled = sparse.apply(rows.to_sparse());
  ASSERT_TRUE(scaled.is_sparse());
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(sparse.scaled(j, 0), 0);
    for (Index i = 0; i < 5; ++i) {
      const float shifted = dense.scaled(j, rows.at(i, static_cast<Index>(j))) - dense.scaled(j, 0);
      EXPECT_FLOAT_EQ(scaled.at(i, static_cast<Index>(j)), shifted);
    }
  }
}

TEST(Scaling, LargeColumnsAreSampled) {
  constexpr Index kRows = 400000;
  std::vector<float> values(kRows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Matrix rows = Matrix::dense(kRows, 1, std::move(values));
  EXPECT_NEAR(Scaling::fit(rows, ScalingMethod::quantile).scaled(0, 300000), 0.6744898, 0.01);
  EXPECT_NEAR(Scaling::fit(rows, ScalingMethod::robust).scaled(0, 300000), 0.6744898, 0.01);
}

TEST(Scaling, WeightsMultiplyTheScaledColumns) {
  const Matrix rows = Matrix::dense(3, 2, {1, -4, 2, 0, 3, 4});
  for (const auto method :
       {ScalingMethod::none, ScalingMethod::standard, ScalingMethod::quantile}) {
    const Scaling plain = Scaling::fit(rows, method);
    const Scaling weighted = plain.with_weights({2, 0.5F});
    EXPECT_EQ(weighted.weights, (std::vector<float>{2, 0.5F}));
    EXPECT_FALSE(weighted.is_identity());
    const Matrix before = plain.apply(rows);
    const Matrix after = weighted.apply(rows);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_FLOAT_EQ(after.at(i, 0), 2 * before.at(i, 0));
      EXPECT_FLOAT_EQ(after.at(i, 1), before.at(i, 1) / 2);
    }
    EXPECT_EQ(weighted.apply(rows.to_sparse()).is_sparse(), method == ScalingMethod::none);
  }
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::weighted), InvalidArgument);
}

TEST(Scaling, ValidateFindsWhatDoesNotFit) {
  const Scaling right =
      Scaling::fit(Matrix::dense(3, 2, {1, 4, 2, 5, 3, 6}), ScalingMethod::quantile);
  EXPECT_NO_THROW(right.validate());
  const auto refuses = [&](const auto& change) {
    Scaling wrong = right;
    change(wrong);
    EXPECT_THROW(wrong.validate(), DataError);
  };
  refuses([](Scaling& s) { s.offset.pop_back(); });
  refuses([](Scaling& s) { s.lower = std::nanf(""); });
  refuses([](Scaling& s) { s.weights = {1}; });
  refuses([](Scaling& s) { s.knots.begin.clear(); });
  refuses([](Scaling& s) { s.knots.begin.back() = 7; });
  refuses([](Scaling& s) { s.knots.begin[1] = 0; });
  refuses([](Scaling& s) { s.knots.begin[1] = 6; });
  refuses([](Scaling& s) { s.knots.begin[1] = 1000000; });
  refuses([](Scaling& s) { s.knots.begin[1] = -3; });
  refuses([](Scaling& s) { s.knots.scores.pop_back(); });
  refuses([](Scaling& s) { s.knots.scores[0] = INFINITY; });
  refuses([](Scaling& s) { std::swap(s.knots.scores[0], s.knots.scores[1]); });
  refuses([](Scaling& s) { s.knots.values[1] = s.knots.values[0]; });
}

constexpr ScalingMethod kLearned[] = {ScalingMethod::minmax, ScalingMethod::standard,
                                      ScalingMethod::maxabs, ScalingMethod::robust,
                                      ScalingMethod::quantile};

TEST(Scaling, ConstantColumnsBecomeLower) {
  const Matrix rows = Matrix::dense(3, 2, {7, 0, 7, 0, 7, 0});
  for (const auto method : kLearned) {
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
    for (const auto method : kLearned) {
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
  for (const auto method : {ScalingMethod::minmax, ScalingMethod::standard, ScalingMethod::maxabs,
                            ScalingMethod::robust}) {
    const Scaling a = Scaling::fit(dense, method, 0, 2);
    const Scaling b = Scaling::fit(sparse, method, 0, 2);
    for (std::size_t j = 0; j < 7; ++j) {
      EXPECT_NEAR(a.offset[j], b.offset[j], 1e-6F);
      EXPECT_NEAR(a.factor[j], b.factor[j], 1e-6F * a.factor[j]);
    }
    EXPECT_EQ(values_of(a.apply(dense)), values_of(a.apply(sparse)));
    // Most values are zero, so the medians are.
    EXPECT_EQ(a.apply(sparse).is_sparse(),
              method == ScalingMethod::maxabs || method == ScalingMethod::robust);
  }
}

TEST(Scaling, DoesNotDependOnThreads) {
  Random random(2);
  std::vector<float> values(200000);
  for (float& value : values) value = static_cast<float>(random.normal());
  const Matrix rows = Matrix::dense(50000, 4, std::move(values));
  RunControl one;
  one.threads = 1;
  for (const auto method : kLearned) {
    const Scaling expected = Scaling::fit(rows, method, 0, 1, one);
    for (const int threads : {2, 5}) {
      RunControl many;
      many.threads = threads;
      EXPECT_EQ(Scaling::fit(rows, method, 0, 1, many), expected);
    }
  }
}

TEST(Scaling, RefusesWhatMakesNoSense) {
  const Matrix rows = Matrix::dense(2, 1, {0, 1});
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, 1, 1), InvalidArgument);
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, 0, INFINITY), InvalidArgument);
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax, std::nan(""), 1), InvalidArgument);
  EXPECT_THROW(Scaling::fit(Matrix::dense(0, 1, {}), ScalingMethod::minmax), DataError);
  for (const auto method : kLearned)
    EXPECT_THROW(Scaling::fit(Matrix::dense(1, 2, {1, INFINITY}), method), DataError);
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
  for (const auto method : kLearned)
    EXPECT_THROW(Scaling::fit(far, method, 0, 1, control), ResourceError);
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
  for (const auto method : kLearned) {
    EXPECT_THROW(Scaling::fit(rows, method, 0, 1, control), Cancelled);
    EXPECT_THROW(Scaling::fit(rows.to_sparse(), method, 0, 1, control), Cancelled);
  }
  EXPECT_THROW(Scaling::fit(rows, ScalingMethod::minmax).apply(rows, control), Cancelled);
}

}  // namespace
}  // namespace tamis

// Kernel sums as the solver asks for them, against the formula in double.
#include "gram/computed_rows.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "base/group.hpp"
#include "support/naive_qp.hpp"

namespace tamis::testing {
namespace {

const std::vector<Kernel> kKernels{
    {.type = KernelType::linear},
    {.type = KernelType::polynomial, .gamma = 0.1, .coef0 = 0, .degree = 2},
    {.type = KernelType::polynomial, .gamma = 0.1, .coef0 = 1, .degree = 3},
    {.type = KernelType::rbf, .gamma = 0.05},
    {.type = KernelType::sigmoid, .gamma = 0.02, .coef0 = -0.1},
};

// Column 0 numbers the rows, the others hold a symmetric matrix.
Matrix precomputed(Index rows) {
  const Gram k = gram({.gamma = 0.1}, random_matrix(rows, 5, 77));
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(i + 1));
    for (Index j = 0; j < rows; ++j) values.push_back(static_cast<float>(k.at(i, j)));
  }
  return Matrix::dense(rows, rows + 1, std::move(values));
}

struct Checker {
  const Kernel& kernel;
  const Matrix& data;
  const std::vector<Index>& rows;  // of data, by point
  double tolerance;

  double value(Index a, Index b) const {
    return kernel_value(kernel, data, rows[usize(a)], data, rows[usize(b)]);
  }
  void expect_sums(std::span<const Index> points, std::span<const Index> from,
                   std::span<const double> coefficients, std::span<const double> got) const {
    for (std::size_t p = 0; p < points.size(); ++p) {
      double expected = 0.5;
      double size = 1;
      for (std::size_t r = 0; r < from.size(); ++r) {
        expected += coefficients[r] * value(from[r], points[p]);
        size += std::abs(coefficients[r]);
      }
      ASSERT_NEAR(got[p], expected, tolerance * size) << "point " << points[p];
    }
  }
};

void check_all(const Kernel& kernel, const Matrix& data, Index cache_bytes, std::uint64_t seed,
               DistanceBy distance_by = DistanceBy::differences) {
  SCOPED_TRACE(describe(kernel) + (data.is_sparse() ? " sparse" : " dense") + " cache " +
               std::to_string(cache_bytes));
  Random random(seed);
  std::vector<Index> rows;  // points are not the rows in order
  for (Index i = 0; i < data.rows(); ++i) {
    if (i % 7 != 3) rows.push_back(data.rows() - 1 - i);
  }
  ComputedRows source(alone(), kernel, data, {rows.begin(), rows.end()}, cache_bytes,
                      has_many_far_pairs(kernel, data, rows), distance_by, [] { return false; });
  const Index n = source.size();
  ASSERT_EQ(n, static_cast<Index>(rows.size()));
  const Checker checker{
      kernel, data, rows,
      kernel.type == KernelType::linear || kernel.type == KernelType::polynomial ? 2e-4 : 1e-5};
  for (Index i = 0; i < n; i += 5)
    ASSERT_NEAR(source.diagonal()[usize(i)], checker.value(i, i), 1e-9 * (1 + checker.value(i, i)));

  std::vector<Index> active = iota_rows(n);
  source.set_active(active);
  for (int round = 0; round < 25; ++round) {
    std::vector<Index> from;
    std::vector<double> coefficients;
    const Index count = random.below(90);
    for (Index r = 0; r < count; ++r) {
      // The first few points again and again, so that they are kept.
      from.push_back(random.below(2) == 0 ? random.below(20) : random.below(n));
      coefficients.push_back(random.normal());
    }
    std::vector<double> sums(active.size(), 0.5);
    ASSERT_TRUE(source.accumulate(from, coefficients, sums));
    checker.expect_sums(active, from, coefficients, sums);

    const std::vector<Index> some{random.below(n), 0, random.below(n), n - 1};
    std::vector<double> at(some.size(), 0.5);
    ASSERT_TRUE(source.accumulate_at(some, from, coefficients, at));
    checker.expect_sums(some, from, coefficients, at);

    if (round % 3 == 2) {
      // Some leave, some come back at the end; now and then everything in another order.
      std::vector<char> stays(usize(n), 0);
      std::vector<Index> next;
      for (const Index i : active) {
        if (random.below(4) == 0) continue;
        next.push_back(i);
        stays[usize(i)] = 1;
      }
      for (Index i = 0; i < n; ++i) {
        if (!stays[usize(i)] && random.below(3) == 0) next.push_back(i);
      }
      if (round == 14) std::reverse(next.begin(), next.end());
      active = next;
      source.set_active(active);
    }
  }
  const std::vector<Index> points{3, 0, n - 1, 7, 3};
  std::vector<float> block(points.size() * 16, -99);
  source.square(points, block.data(), 16);
  std::vector<float> exact(block.size());
  std::vector<float> rest(block.size());
  ASSERT_TRUE(source.precise_square(points, exact.data(), rest.data(), 16));
  for (std::size_t r = 0; r < points.size(); ++r) {
    for (std::size_t c = 0; c < points.size(); ++c) {
      const std::size_t at = r * 16 + c;
      const double expected = checker.value(points[r], points[c]);
      ASSERT_NEAR(block[at], expected, checker.tolerance * 2);
      ASSERT_NEAR(static_cast<double>(exact[at]) + static_cast<double>(rest[at]), expected,
                  1e-13 * std::abs(expected) + 1e-30);
    }
  }
  EXPECT_GT(source.counts().computed, 0);
  if (cache_bytes == 0) {
    EXPECT_EQ(source.counts().cached, 0);
  }
}

TEST(ComputedRows, SumsAreRight) {
  const Matrix dense = random_matrix(150, 12, 1);
  const Matrix sparse = random_matrix(150, 60, 2, 0.2).to_sparse();
  for (const Kernel& kernel : kKernels) {
    for (const Index cache_bytes : {0, 3000, 100 << 20}) {
      check_all(kernel, dense, cache_bytes, 3);
      check_all(kernel, sparse, cache_bytes, 4);
      check_all(kernel, dense, cache_bytes, 6, DistanceBy::products);
    }
  }
  for (const Index cache_bytes : {0, 3000, 100 << 20})
    check_all({.type = KernelType::precomputed}, precomputed(90), cache_bytes, 5);
}

// One row at a time gives the bits of the whole square.
TEST(ComputedRows, RowsOfABlockAreThoseOfItsSquare) {
  const Matrix dense = random_matrix(300, 12, 11);
  const Matrix sparse = random_matrix(300, 60, 12, 0.2).to_sparse();
  const Matrix wide = random_matrix(300, 400, 13, 0.1).to_sparse();
  std::vector<Index> points;
  for (Index i = 0; i < 150; ++i) points.push_back((7 * i + 3) % 300);
  const Index stride = 176;
  for (const Matrix* data : {&dense, &sparse, &wide}) {
    for (const Kernel& kernel : kKernels) {
      SCOPED_TRACE(describe(kernel));
      const auto rows = iota_rows(300);
      ComputedRows source(alone(), kernel, *data, {rows.begin(), rows.end()}, 0, false,
                          DistanceBy::products, [] { return false; });
      std::vector<float> square(points.size() * usize(stride));
      source.square(points, square.data(), stride);
      const Index computed = source.counts().computed;
      // Single rows of wide sparse data would cost as much as sixteen.
      ASSERT_EQ(source.begin_block(points), data != &wide);
      if (data == &wide) continue;
      std::vector<float> row(usize(stride));
      for (std::size_t r = 0; r < points.size(); ++r) {
        source.block_row(static_cast<Index>(r), row.data());
        ASSERT_EQ(std::memcmp(row.data(), square.data() + r * usize(stride), points.size() * 4), 0)
            << "row " << r;
      }
      source.end_block(3);
      EXPECT_EQ(source.counts().computed, computed + 3 * 150);
    }
  }
}

// More points than a strip, so that rows are partly kept when points join; so many columns that a
// value is worth keeping.
TEST(ComputedRows, LongRowsAreRight) {
  const Matrix data = random_matrix(1700, 1200, 6);
  const Kernel kernel{.gamma = 0.001};
  const std::vector<Index> rows = iota_rows(1700);
  ComputedRows source(kernel, data, rows, 20 << 20, [] { return false; });
  const Checker checker{kernel, data, rows, 1e-5};
  std::vector<Index> active = iota_rows(900);
  const std::vector<Index> from{5, 800, 1600, 5};
  const std::vector<double> coefficients{1, -2, 0.5, 3};
  for (const Index size : {900, 900, 1300, 1300, 1700, 600, 1024, 1700}) {
    active = iota_rows(size);
    source.set_active(active);
    for (int again = 0; again < 3; ++again) {
      std::vector<double> sums(active.size(), 0.5);
      ASSERT_TRUE(source.accumulate(from, coefficients, sums));
      checker.expect_sums(active, from, coefficients, sums);
    }
  }
  EXPECT_GT(source.counts().cached, 0) << "a row asked for again and again is worth keeping";
}

// Values that are cheap to compute are not kept: that would take longer. Where computing is slow,
// as in an emulator, these are not cheap either.
TEST(ComputedRows, CheapValuesAreNotKept) {
  const Matrix data = random_matrix(1700, 4, 6);
  ComputedRows source({.gamma = 0.1}, data, iota_rows(1700), 20 << 20, [] { return false; });
  source.set_active(iota_rows(1700));
  const std::vector<Index> from{5, 800};
  for (int again = 0; again < 5; ++again) {
    std::vector<double> sums(1700, 0.0);
    ASSERT_TRUE(source.accumulate(from, std::vector<double>{1, -2}, sums));
  }
  const bool is_cheap = source.value_seconds() <= ComputedRows::kWorthKeepingSeconds;
  EXPECT_EQ(source.counts().cached == 0, is_cheap) << source.value_seconds() << " s per value";
}

// The part of a square that is known already is left as it is.
TEST(ComputedRows, RestOfASquare) {
  constexpr float kMark = -7;
  const Index size = 150;
  const Index stride = 160;
  for (const Index columns : {3, 20}) {
    const Matrix data = random_matrix(size, columns, 8);
    ComputedRows source({.gamma = 0.2}, data, iota_rows(size), 0, [] { return false; });
    std::vector<Index> points = iota_rows(size);
    std::reverse(points.begin(), points.end());
    std::vector<float> whole(usize(size * stride));
    source.square(points, whole.data(), stride);
    const auto whole_count = source.counts().computed;
    for (const Index known : {0, 1, 64, 100, 150}) {
      std::vector<float> block(usize(size * stride), kMark);
      for (Index r = size - known; r < size; ++r) {
        for (Index c = size - known; c < size; ++c)
          block[usize(r * stride + c)] = whole[usize(r * stride + c)];
      }
      const auto before = source.counts().computed;
      source.rest_of_square(points, known, block.data(), stride);
      for (Index r = 0; r < size; ++r) {
        for (Index c = 0; c < size; ++c)
          ASSERT_EQ(block[usize(r * stride + c)], whole[usize(r * stride + c)]) << r << ' ' << c;
      }
      EXPECT_EQ(source.counts().computed - before,
                columns < 8 ? whole_count : whole_count - known * (known + 1) / 2);
    }
  }
}

// A narrow kernel on many points: those out of reach are left out, and nobody notices.
void check_narrow_kernel(const Matrix& data, double tolerance) {
  SCOPED_TRACE(data.is_sparse() ? "sparse" : "dense");
  const Kernel kernel{.gamma = 300};
  const std::vector<Index> rows = iota_rows(data.rows());
  ASSERT_TRUE(has_many_far_pairs(kernel, data, rows));
  ComputedRows source(kernel, data, rows, 20 << 20, [] { return false; });
  const Checker checker{kernel, data, rows, tolerance};
  const std::vector<Index> from{5, 800, 4099, 5};
  const std::vector<double> coefficients{1, -2, 0.5, 3};
  for (const Index size : {4100, 1, 64, 1025, 2999}) {
    const std::vector<Index> active = iota_rows(size);
    source.set_active(active);
    std::vector<double> sums(active.size(), 0.5);
    ASSERT_TRUE(source.accumulate(from, coefficients, sums));
    checker.expect_sums(active, from, coefficients, sums);
  }
  std::vector<Index> some;
  for (Index i = 3; i < data.rows(); i += 7) some.push_back(i);
  std::vector<double> sums(some.size(), 0.5);
  ASSERT_TRUE(source.accumulate_at(some, from, coefficients, sums));
  checker.expect_sums(some, from, coefficients, sums);
}

// Values in [-1, 1] in ascending order of the first column, so that runs of rows are near.
Matrix sorted_rows(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(2 * i) / static_cast<float>(rows) - 1);
    for (Index j = 1; j < cols; ++j)
      values.push_back(random.uniform() < 0.5 ? 0.0F : static_cast<float>(random.uniform()) * 0.1F);
  }
  return Matrix::dense(rows, cols, std::move(values));
}

TEST(ComputedRows, FarPointsAreLeftOut) {
  const Matrix dense = sorted_rows(4100, 7, 8);
  check_narrow_kernel(dense, 1e-6);
  check_narrow_kernel(dense.to_sparse(), 1e-4);  // distances from norms
  check_narrow_kernel(random_matrix(4100, 7, 9), 1e-6);

  const Kernel kernel{.gamma = 300};
  const std::vector<Index> rows = iota_rows(dense.rows());
  ComputedRows source(kernel, dense, rows, 20 << 20, [] { return false; });
  source.set_active(rows);
  std::vector<double> sums(rows.size(), 0.0);
  ASSERT_TRUE(source.accumulate(std::vector<Index>{100}, std::vector<double>{1}, sums));
  EXPECT_GT(source.counts().computed, 100);
  EXPECT_LT(source.counts().computed, dense.rows() / 2);
}

// Rows are looked at in parts of 1024: more than two of them, the last one not full.
TEST(ComputedRows, ManyRowsReachNearPoints) {
  const Matrix data = sorted_rows(4100, 5, 11);
  const Kernel kernel{.gamma = 300};
  const std::vector<Index> rows = iota_rows(data.rows());
  ComputedRows source(kernel, data, rows, 0, [] { return false; });
  const Checker checker{kernel, data, rows, 1e-5};
  const std::vector<Index> from = iota_rows(2500);
  std::vector<double> coefficients;
  for (std::size_t k = 0; k < from.size(); ++k) coefficients.push_back(k % 3 == 0 ? -1.0 : 0.7);
  const std::vector<Index> some{0, 1023, 1024, 2047, 2048, 2499, 2600, 4000};
  std::vector<double> sums(some.size(), 0.5);
  ASSERT_TRUE(source.accumulate_at(some, from, coefficients, sums));
  checker.expect_sums(some, from, coefficients, sums);
}

TEST(ComputedRows, AStoppedPassOverNearPointsSaysSo) {
  const Matrix data = sorted_rows(4100, 3, 10);
  const std::vector<Index> rows = iota_rows(data.rows());
  ComputedRows source({.gamma = 300}, data, rows, 0, [] { return true; });
  source.set_active(rows);
  std::vector<double> sums(rows.size(), 0.0);
  EXPECT_FALSE(source.accumulate(std::vector<Index>{1}, std::vector<double>{1}, sums));
}

// A pass that was stopped must not leave half a row behind as if it were whole.
TEST(ComputedRows, AStoppedPassSpoilsNothing) {
  const Matrix data = random_matrix(2000, 110, 7);
  const Kernel kernel{.gamma = 0.01};
  const std::vector<Index> rows = iota_rows(2000);
  std::atomic<bool> stop = false;
  ComputedRows source(kernel, data, rows, 50 << 20, [&] { return stop.load(); });
  const Checker checker{kernel, data, rows, 1e-5};
  source.set_active(rows);
  const std::vector<Index> from{1, 2, 3};
  const std::vector<double> coefficients{1, -1, 2};
  std::vector<double> sums(rows.size(), 0.5);
  ASSERT_TRUE(source.accumulate(from, coefficients, sums));
  stop = true;
  EXPECT_FALSE(source.accumulate(from, coefficients, sums));
  std::vector<double> few(2, 0.5);
  EXPECT_FALSE(source.accumulate_at(std::vector<Index>{4, 5}, from, coefficients, few));
  stop = false;
  for (int again = 0; again < 4; ++again) {
    sums.assign(rows.size(), 0.5);
    ASSERT_TRUE(source.accumulate(from, coefficients, sums));
    checker.expect_sums(rows, from, coefficients, sums);
  }
}

}  // namespace
}  // namespace tamis::testing

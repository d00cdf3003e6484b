// The block code against the plain formula, on every instruction set this machine has.
#include "kernels/kernel_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "kernels/kernel_value.hpp"
#include "support/targets.hpp"
#include "tamis/error.hpp"
#include "tamis/system.hpp"

namespace tamis {
namespace {

using testing::on_each_target;

Matrix random_rows(Index rows, Index cols, double density, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (float& v : values)
    v = random.uniform() < density ? static_cast<float>(random.normal()) : 0.0F;
  return Matrix::dense(rows, cols, std::move(values));
}

std::vector<Index> all_rows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

const std::vector<Kernel> kKernels{
    {.type = KernelType::linear},
    {.type = KernelType::polynomial, .gamma = 0.1, .coef0 = 0, .degree = 2},
    {.type = KernelType::polynomial, .gamma = 0.05, .coef0 = 1.5, .degree = 5},
    {.type = KernelType::rbf, .gamma = 0.07},
    {.type = KernelType::rbf, .gamma = 40},
    {.type = KernelType::sigmoid, .gamma = 0.01, .coef0 = -0.3},
    {.type = KernelType::laplacian, .gamma = 0.02},
    {.type = KernelType::laplacian, .gamma = 3},
};

double l1_norm(const Matrix& a, Index i) {
  double sum = 0;
  for (Index j = 0; j < a.cols(); ++j) sum += std::abs(static_cast<double>(a.at(i, j)));
  return sum;
}

// |x| |z| bounds the terms of the inner product, so its rounding error scales with it.
double tolerance(const Kernel& kernel, const Matrix& a, Index i, const Matrix& b, Index j,
                 bool from_norms) {
  const double xx = kernel_value({.type = KernelType::linear}, a, i, a, i);
  const double zz = kernel_value({.type = KernelType::linear}, b, j, b, j);
  const double scale = std::sqrt(xx * zz) + (from_norms ? xx + zz : 0);
  const double value = std::abs(kernel_value(kernel, a, i, b, j));
  const double rounding = 3e-6;
  switch (kernel.type) {
    case KernelType::linear:
      return rounding * scale + 1e-6;
    case KernelType::polynomial: {
      const double largest = kernel.gamma * scale + std::abs(kernel.coef0);
      return rounding * kernel.degree * std::pow(largest, kernel.degree) + 1e-6;
    }
    case KernelType::laplacian: {
      const double norms = l1_norm(a, i) + l1_norm(b, j);
      const double exponent = from_norms ? kernel.gamma * norms : -std::log(std::max(value, 1e-38));
      return 1e-6 * value * (1 + exponent) + 1e-37;
    }
    case KernelType::rbf: {
      const double exponent = from_norms ? kernel.gamma * scale : -std::log(std::max(value, 1e-38));
      return 1e-6 * value * (1 + exponent) + 1e-37;
    }
    default:
      return rounding * (1 + kernel.gamma * scale);
  }
}

struct Shape {
  Index points;
  Index rows;
  Index cols;
};

TEST(KernelBlocks, AgreeWithTheFormula) {
  std::set<std::string> targets;
  on_each_target([&] {
    targets.insert(simd_target_name());
    for (const Shape& shape :
         {Shape{1, 1, 1}, {16, 4, 2}, {37, 7, 22}, {50, 70, 54}, {33, 5, 300}, {3, 3, 0}}) {
      for (const double density : {1.0, 0.1}) {
        const Matrix points = random_rows(shape.points, shape.cols, density, 1);
        const Matrix queries = random_rows(shape.rows, shape.cols, density, 2);
        for (const bool sparse_points : {false, true}) {
          for (const bool sparse_queries : {false, true}) {
            const Matrix p = sparse_points ? points.to_sparse() : points;
            const Matrix q = sparse_queries ? queries.to_sparse() : queries;
            for (const Kernel& kernel : kKernels) {
              const KernelBlocks blocks(kernel, p);
              const Index stride = round_up(shape.points, kPanel);
              std::vector<float> out(static_cast<std::size_t>(shape.rows * stride), -99);
              blocks.evaluate(q, all_rows(shape.rows), 0, shape.points, out.data(), stride);
              for (Index r = 0; r < shape.rows; ++r) {
                for (Index c = 0; c < shape.points; ++c) {
                  ASSERT_NEAR(out[static_cast<std::size_t>(r * stride + c)],
                              kernel_value(kernel, queries, r, points, c),
                              tolerance(kernel, queries, r, points, c, sparse_points))
                      << describe(kernel) << " d " << shape.cols << " row " << r << " point " << c
                      << " sparse " << sparse_points << sparse_queries;
                }
              }
            }
          }
        }
      }
    }
  });
  const int compiled = std::popcount(static_cast<std::uint64_t>(simd_targets()));
  EXPECT_GE(targets.size(), std::min<std::size_t>(2, compiled)) << "only one was tested";
}

// Distances of dense rows from inner products: as exact as those of sparse rows, symmetric, 1 on
// the diagonal, and the same for any part of a call.
TEST(KernelBlocks, ByProductsAgreeWithTheFormula) {
  on_each_target([] {
    for (const Shape& shape :
         {Shape{1, 1, 1}, {37, 7, 22}, {50, 70, 54}, {67, 67, 31}, {80, 9, 300}}) {
      const Matrix points = random_rows(shape.points, shape.cols, 0.7, 1);
      const Matrix dense = random_rows(shape.rows, shape.cols, 0.7, 2);
      const Kernel kernel{.gamma = 0.5 / static_cast<double>(shape.cols)};
      const KernelBlocks blocks(kernel, points, {}, nullptr, DistanceBy::products);
      const Index stride = round_up(shape.points, kPanel);
      const auto size = static_cast<std::size_t>(shape.rows * stride);
      const std::vector<Index> rows = all_rows(shape.rows);
      std::vector<float> out(size, -99);
      blocks.evaluate(dense, rows, 0, shape.points, out.data(), stride);
      std::vector<float> again(size, -99);
      const std::vector<float> norms = row_norms(kernel, dense, rows, DistanceBy::products);
      ASSERT_EQ(norms.size(), rows.size());
      blocks.evaluate(dense, rows, 0, shape.points, again.data(), stride, norms);
      std::vector<float> of_sparse(size, -99);
      blocks.evaluate(dense.to_sparse(), rows, 0, shape.points, of_sparse.data(), stride);
      for (Index r = 0; r < shape.rows; ++r) {
        for (Index c = 0; c < shape.points; ++c) {
          const auto at = static_cast<std::size_t>(r * stride + c);
          ASSERT_NEAR(out[at], kernel_value(kernel, dense, r, points, c),
                      tolerance(kernel, dense, r, points, c, true))
              << "d " << shape.cols << " row " << r << " point " << c;
          ASSERT_EQ(out[at], again[at]);
          ASSERT_EQ(out[at], of_sparse[at]);
        }
        std::vector<float> alone(static_cast<std::size_t>(stride));
        blocks.evaluate(dense, std::vector<Index>{r}, 0, shape.points, alone.data(), stride);
        for (Index c = 0; c < shape.points; ++c)
          ASSERT_EQ(alone[static_cast<std::size_t>(c)],
                    out[static_cast<std::size_t>(r * stride + c)]);
      }
      std::vector<float> own(static_cast<std::size_t>(shape.points * stride));
      blocks.evaluate(points, all_rows(shape.points), 0, shape.points, own.data(), stride);
      for (Index r = 0; r < shape.points; ++r) {
        ASSERT_EQ(own[static_cast<std::size_t>(r * stride + r)], 1.0F);
        for (Index c = 0; c < r; ++c) {
          ASSERT_EQ(own[static_cast<std::size_t>(r * stride + c)],
                    own[static_cast<std::size_t>(c * stride + r)]);
        }
      }
    }
  });
}

// Other kernels, and sparse rows, have one way.
TEST(KernelBlocks, ByProductsIsForDistancesOfDenseRows) {
  const Matrix data = random_rows(20, 17, 0.5, 3);
  for (const Matrix& m : {data, data.to_sparse()}) {
    for (const Kernel& kernel : kKernels) {
      if (kernel.type == KernelType::rbf && !m.is_sparse()) continue;
      std::vector<float> one(32);
      std::vector<float> other(32);
      KernelBlocks(kernel, m).evaluate(m, std::vector<Index>{4}, 0, 20, one.data(), 32);
      KernelBlocks(kernel, m, {}, nullptr, DistanceBy::products)
          .evaluate(m, std::vector<Index>{4}, 0, 20, other.data(), 32);
      EXPECT_TRUE(std::equal(one.begin(), one.begin() + 20, other.begin())) << describe(kernel);
    }
  }
}

// What `tamis info` shows is what is used, also where the processor could do more.
TEST(KernelBlocks, TheInstructionSetIsTheOneReported) {
  EXPECT_EQ(simd_target(), simd_target_name());
}

TEST(KernelBlocks, EvaluateARangeOfChosenPoints) {
  const Matrix data = random_rows(100, 9, 0.5, 3);
  const std::vector<Index> chosen{5,  99, 0,  17, 17, 42, 3,  8,  9,  10,
                                  11, 12, 13, 14, 15, 16, 77, 78, 79, 80};
  for (const Matrix& m : {data, data.to_sparse()}) {
    const KernelBlocks blocks({.gamma = 0.3}, m, chosen);
    ASSERT_EQ(blocks.num_points(), 20);
    std::vector<float> out(2 * 16);
    const std::vector<Index> rows{50, 17};
    blocks.evaluate(m, rows, 16, 20, out.data(), 16);
    for (Index c = 16; c < 20; ++c) {
      EXPECT_NEAR(out[static_cast<std::size_t>(16 + c - 16)],
                  kernel_value({.gamma = 0.3}, data, 17, data, chosen[static_cast<std::size_t>(c)]),
                  1e-5);
    }
  }
}

// The solver relies on a symmetric matrix with ones on its diagonal.
TEST(KernelBlocks, AreSymmetricToTheLastBit) {
  on_each_target([] {
    const Matrix data = random_rows(67, 31, 0.4, 4);
    for (const Matrix& m : {data, data.to_sparse()}) {
      for (const Kernel& kernel : kKernels) {
        const KernelBlocks blocks(kernel, m);
        std::vector<float> out(67 * 80);
        blocks.evaluate(m, all_rows(67), 0, 67, out.data(), 80);
        for (std::size_t i = 0; i < 67; ++i) {
          for (std::size_t j = 0; j < i; ++j)
            ASSERT_EQ(out[i * 80 + j], out[j * 80 + i]) << describe(kernel);
          const bool is_of_distance =
              kernel.type == KernelType::rbf || kernel.type == KernelType::laplacian;
          if (is_of_distance && !m.is_sparse()) {
            ASSERT_EQ(out[i * 80 + i], 1.0F);
          }
        }
      }
    }
  });
}

TEST(KernelBlocks, DoNotDependOnTheOtherRowsOfTheCall) {
  const Matrix data = random_rows(40, 13, 0.5, 5);
  for (const Matrix& m : {data, data.to_sparse()}) {
    const KernelBlocks blocks({.gamma = 0.2}, m);
    std::vector<float> together(40 * 48);
    blocks.evaluate(m, all_rows(40), 0, 40, together.data(), 48);
    for (Index r = 0; r < 40; ++r) {
      std::vector<float> alone(16);
      blocks.evaluate(m, std::vector<Index>{r}, 16, 32, alone.data(), 16);
      for (std::size_t c = 0; c < 16; ++c)
        ASSERT_EQ(alone[c], together[static_cast<std::size_t>(r) * 48 + 16 + c]);
    }
  }
}

// Sparse rows of many columns are unpacked into a buffer that the thread keeps.
TEST(KernelBlocks, DoNotDependOnEarlierCalls) {
  const auto values_of = [](Index cols, Index rows) {
    const Matrix data = random_rows(80, cols, 0.1, 6).to_sparse();
    std::vector<float> out(static_cast<std::size_t>(rows * 80));
    KernelBlocks({.gamma = 0.2}, data).evaluate(data, all_rows(rows), 0, 80, out.data(), 80);
    return out;
  };
  const std::vector<float> narrow = values_of(300, 80);
  const std::vector<float> few = values_of(300, 5);
  const std::vector<float> wide = values_of(700, 70);
  EXPECT_EQ(values_of(300, 80), narrow);
  EXPECT_EQ(values_of(700, 70), wide);
  EXPECT_EQ(values_of(300, 5), few);
}

Matrix rows_of_ones(Index rows, Index cols, double density, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (float& v : values) v = random.uniform() < density ? 1.0F : 0.0F;
  return Matrix::dense(rows, cols, std::move(values)).to_sparse();
}

// The same rows, not known to hold only ones.
Matrix forgetful(const Matrix& ones) {
  return Matrix::checked_sparse_view(ones.cols(), ones.row_offsets(), ones.sparse_columns(),
                                     ones.sparse_values(), std::make_shared<const Matrix>(ones));
}

// Rows of ones are counted in bytes: the values, and so the models, are those of any sparse rows.
TEST(KernelBlocks, CountingOnesChangesNoBit) {
  on_each_target([] {
    for (const Shape& shape : {Shape{1, 1, 1},
                               {64, 33, 20},
                               {200, 70, 123},
                               {333, 40, 255},
                               {150, 40, 300},
                               {90, 20, 1024}}) {
      for (const double density : {0.05, 0.9}) {  // more than 255 ones in a row, too
        const Matrix points = rows_of_ones(shape.points, shape.cols, density, 1);
        const Matrix queries = rows_of_ones(shape.rows, shape.cols, density, 2);
        ASSERT_TRUE(points.has_only_ones());
        ASSERT_FALSE(forgetful(points).has_only_ones());
        for (const Kernel& kernel : kKernels) {
          const KernelBlocks counted(kernel, points);
          const KernelBlocks plain(kernel, forgetful(points));
          for (Index begin = 0; begin < shape.points; begin += 48) {
            const Index end = begin % 32 == 0 ? shape.points : std::min(begin + 40, shape.points);
            const Index stride = round_up(end - begin, kPanel);
            std::vector<float> own(usize(shape.rows * stride));
            std::vector<float> wanted = own;
            const std::vector<Index> rows = all_rows(shape.rows);
            counted.evaluate(queries, rows, begin, end, own.data(), stride);
            plain.evaluate(forgetful(queries), rows, begin, end, wanted.data(), stride);
            for (Index r = 0; r < shape.rows; ++r) {
              for (Index c = 0; c < end - begin; ++c) {
                ASSERT_EQ(own[usize(r * stride + c)], wanted[usize(r * stride + c)])
                    << describe(kernel) << " d " << shape.cols << " row " << r << " point "
                    << begin + c;
              }
            }
          }
        }
      }
    }
  });
}

// Points of ones meet other rows too: those of a file to predict, for example.
TEST(KernelBlocks, PointsOfOnesMeetAnyRows) {
  on_each_target([] {
    const Matrix points = rows_of_ones(150, 40, 0.3, 1);
    const Matrix queries = random_rows(70, 40, 0.5, 2);
    for (const Matrix& q : {queries, queries.to_sparse()}) {
      for (const Kernel& kernel : kKernels) {
        std::vector<float> own(70 * 144);
        std::vector<float> wanted = own;
        KernelBlocks(kernel, points).evaluate(q, all_rows(70), 16, 150, own.data(), 144);
        KernelBlocks(kernel, forgetful(points))
            .evaluate(q, all_rows(70), 16, 150, wanted.data(), 144);
        for (std::size_t r = 0; r < 70; ++r) {
          for (std::size_t c = 0; c < 134; ++c)
            ASSERT_EQ(own[r * 144 + c], wanted[r * 144 + c]) << describe(kernel);
        }
      }
    }
  });
}

TEST(KernelBlocks, StayFiniteForHugeFeatures) {
  const float huge = std::numeric_limits<float>::max() / 2;
  const Matrix data = Matrix::dense(2, 2, {huge, -huge, -huge, huge});
  on_each_target([&] {
    const KernelBlocks blocks({.gamma = 1}, data);
    std::vector<float> out(32);
    blocks.evaluate(data, all_rows(2), 0, 2, out.data(), 16);
    EXPECT_EQ(out[0], 1.0F);
    EXPECT_LT(out[1], 1e-37F);
    EXPECT_GE(out[1], 0.0F);
  });
  EXPECT_THROW(require_representable({.type = KernelType::linear}, data), DataError);
  EXPECT_NO_THROW(require_representable({.gamma = 1}, data));
}

TEST(KernelBlocks, PrecomputedValuesAreLookedUp) {
  // K of three points; column 0 is the row's number.
  const Matrix data = Matrix::dense(3, 4, {1, 10, 11, 12, 2, 11, 20, 21, 3, 12, 21, 30});
  const Kernel kernel{.type = KernelType::precomputed};
  require_representable(kernel, data);
  const KernelBlocks blocks(kernel, data, std::vector<Index>{2, 0});
  std::vector<float> out(16);
  blocks.evaluate(data, std::vector<Index>{1}, 0, 2, out.data(), 16);
  EXPECT_EQ(out[0], 21);
  EXPECT_EQ(out[1], 11);
  EXPECT_EQ(kernel_diagonal(kernel, data, all_rows(3)), (std::vector<double>{10, 20, 30}));
  EXPECT_THROW(require_representable(kernel, Matrix::dense(1, 2, {2, 1})), DataError);
}

TEST(KernelBlocks, SquaredDistances) {
  const Matrix data = random_rows(20, 6, 1, 6);
  const KernelBlocks blocks = KernelBlocks::squared_distances(data);
  std::vector<float> out(32);
  blocks.evaluate(data, std::vector<Index>{3}, 0, 20, out.data(), 32);
  for (Index c = 0; c < 20; ++c) {
    double expected = 0;
    for (Index j = 0; j < 6; ++j) {
      expected +=
          std::pow(static_cast<double>(data.at(3, j)) - static_cast<double>(data.at(c, j)), 2);
    }
    EXPECT_NEAR(out[static_cast<std::size_t>(c)], expected, 1e-5 * (1 + expected));
  }
}

TEST(KernelBlocks, GivenNormsAreThoseOfTheRows) {
  const Matrix dense = random_rows(70, 30, 0.3, 4);
  const Matrix sparse = dense.to_sparse();
  const std::vector<Index> rows = all_rows(70);
  for (const KernelType type : {KernelType::rbf, KernelType::laplacian}) {
    const Kernel kernel{.type = type, .gamma = 0.2};
    EXPECT_TRUE(row_norms(kernel, dense, rows).empty());
    const KernelBlocks blocks(kernel, sparse);
    std::vector<float> own(70 * 80);
    std::vector<float> given = own;
    blocks.evaluate(sparse, rows, 0, 70, own.data(), 80);
    blocks.evaluate(sparse, rows, 0, 70, given.data(), 80, row_norms(kernel, sparse, rows));
    for (std::size_t r = 0; r < 70; ++r) {
      for (std::size_t c = 0; c < 70; ++c) ASSERT_EQ(own[r * 80 + c], given[r * 80 + c]);
    }
  }
}

// What finish_kernel() makes of unfinished values is the kernel, to the last bit.
TEST(KernelBlocks, UnfinishedValuesCanBeFinished) {
  on_each_target([] {
    const Matrix data = random_rows(48, 20, 0.4, 8);
    for (const Matrix& m : {data, data.to_sparse()}) {
      for (const Kernel& kernel : kKernels) {
        std::vector<float> whole(48 * 48);
        std::vector<float> parts = whole;
        KernelBlocks(kernel, m).evaluate(m, all_rows(48), 0, 48, whole.data(), 48);
        KernelBlocks::unfinished(kernel.type, m).evaluate(m, all_rows(48), 0, 48, parts.data(), 48);
        finish_kernel(kernel, parts.data(), 48 * 48);
        ASSERT_EQ(parts, whole) << describe(kernel);
      }
    }
  });
}

TEST(Mirror, FillsRowsFromColumns) {
  on_each_target([] {
    constexpr Index kSize = 55;
    constexpr Index kStride = 80;
    std::vector<float> block(kSize * kStride);
    std::iota(block.begin(), block.end(), 0.0F);
    const std::vector<float> before = block;
    mirror(block.data(), kStride, 32, kSize, 32);
    for (Index r = 0; r < kSize; ++r) {
      for (Index c = 0; c < kStride; ++c) {
        const Index from = r >= 32 && c < 32 ? c * kStride + r : r * kStride + c;
        ASSERT_EQ(block[usize(r * kStride + c)], before[usize(from)]) << r << ' ' << c;
      }
    }
  });
}

TEST(AccumulateRows, SumsInDouble) {
  on_each_target([] {
    Random random(7);
    for (const Index count : {1, 15, 16, 100}) {
      for (const Index rows : {0, 1, 5, 130}) {
        std::vector<float> values(static_cast<std::size_t>(rows * 112));
        std::vector<double> coefficients(static_cast<std::size_t>(rows));
        for (float& v : values) v = static_cast<float>(random.normal());
        for (double& c : coefficients) c = random.normal() * 1e6;
        std::vector<double> sums(static_cast<std::size_t>(count), 1.0);
        std::vector<double> expected = sums;
        accumulate_rows(values.data(), 112, coefficients, count, sums.data());
        for (std::size_t c = 0; c < expected.size(); ++c) {
          for (std::size_t r = 0; r < coefficients.size(); ++r) {
            expected[c] += coefficients[r] * static_cast<double>(values[r * 112 + c]);
          }
          EXPECT_NEAR(sums[c], expected[c], 1e-6);
        }
      }
    }
  });
}

TEST(Kernel, RefusesBadParameters) {
  EXPECT_THROW((Kernel{.gamma = 0}.validate()), InvalidArgument);
  EXPECT_THROW((Kernel{.gamma = -1}.validate()), InvalidArgument);
  EXPECT_THROW((Kernel{.gamma = std::nan("")}.validate()), InvalidArgument);
  EXPECT_THROW((Kernel{.type = KernelType::polynomial, .degree = 0}.validate()), InvalidArgument);
  EXPECT_NO_THROW((Kernel{.type = KernelType::linear, .gamma = 0}.validate()));
  EXPECT_EQ(parse_kernel_type("poly"), KernelType::polynomial);
  EXPECT_EQ(parse_kernel_type("2"), KernelType::rbf);
  EXPECT_EQ(parse_kernel_type("laplacian"), KernelType::laplacian);
  EXPECT_EQ(describe(Kernel{.type = KernelType::laplacian, .gamma = 2}), "laplacian, gamma 2");
  EXPECT_THROW((Kernel{.type = KernelType::laplacian, .gamma = 0}.validate()), InvalidArgument);
  EXPECT_THROW(parse_kernel_type("gauss"), InvalidArgument);
  EXPECT_THROW(parse_kernel_type("5"), InvalidArgument);  // not a number of LIBSVM's
}

}  // namespace
}  // namespace tamis

#include "model/kernel_expansion.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "model/expansion_fixtures.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

std::vector<double> values_of(const KernelExpansion& machine, const Matrix& rows,
                              const RunControl& control = {}) {
  std::vector<double> values(static_cast<std::size_t>(rows.rows() * machine.num_machines()));
  with_threads(control.threads, [&] { machine.decision_values(rows, values, control); });
  return values;
}

void expect_naive(const ExpansionParts& parts, const Matrix& rows) {
  const KernelExpansion machine(parts);
  const auto values = values_of(machine, rows);
  const double tolerance = 1e-5 * static_cast<double>(parts.support_vectors.rows() + 1);
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index m = 0; m < machine.num_machines(); ++m) {
      const double expected = naive_value(parts, m, rows, i);
      ASSERT_NEAR(values[static_cast<std::size_t>(i * machine.num_machines() + m)], expected,
                  tolerance)
          << describe(parts.kernel) << " row " << i << " machine " << m;
    }
  }
}

TEST(KernelExpansion, FollowsItsFormulaForEveryKernelAndStorage) {
  Random random(1);
  for (const Kernel& kernel : all_kernels()) {
    const Matrix vectors = random_rows(37, 5, random);
    const Matrix rows = random_rows(70, 5, random);
    for (const Matrix& v : {vectors, vectors.to_sparse()}) {
      for (const Matrix& r : {rows, rows.to_sparse()}) {
        expect_naive(random_parts(kernel, v, Decision::single, 2, random), r);
        expect_naive(random_parts(kernel, v, Decision::one_vs_rest, 7, random), r);
        expect_naive(random_parts(kernel, v, Decision::one_vs_one, 4, random), r);
      }
    }
  }
}

TEST(KernelExpansion, FollowsItsFormulaForManySizes) {
  EXPECT_TRUE(rc::check("any size", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const Index vectors = *rc::gen::inRange<Index>(0, 80);
    const Index cols = *rc::gen::inRange<Index>(1, 20);
    const auto decision =
        *rc::gen::element(Decision::single, Decision::one_vs_one, Decision::one_vs_rest);
    const Index classes = *rc::gen::inRange<Index>(1, 6);
    const Kernel kernel = *rc::gen::elementOf(all_kernels());
    expect_naive(
        random_parts(kernel, random_rows(vectors, cols, random), decision, classes, random),
        random_rows(*rc::gen::inRange<Index>(0, 300), cols, random));
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(KernelExpansion, GathersPrecomputedValues) {
  Random random(2);
  const Kernel kernel{KernelType::precomputed};
  const Matrix training = random_precomputed(20, 20, random);
  const Matrix rows = random_precomputed(90, 20, random);
  const std::vector<Index> chosen{3, 0, 19, 7};
  for (const Matrix& r : {rows, rows.to_sparse()}) {
    expect_naive(random_parts(kernel, training.select(chosen), Decision::single, 2, random), r);
    expect_naive(random_parts(kernel, training.select(chosen), Decision::one_vs_one, 3, random), r);
  }
  const KernelExpansion machine(
      random_parts(kernel, training.select(chosen), Decision::single, 2, random));
  EXPECT_EQ(machine.num_features(), 21);
  EXPECT_THROW(machine.fit_columns(Matrix::dense(1, 20, std::vector<float>(20))), DataError);
  EXPECT_THROW(
      KernelExpansion(random_parts(kernel, Matrix::dense(1, 1, {0}), Decision::single, 2, random)),
      DataError);
}

TEST(KernelExpansion, IsConstantWithoutSupportVectors) {
  Random random(3);
  for (const Kernel& kernel : all_kernels()) {
    const KernelExpansion machine(
        random_parts(kernel, Matrix::dense(0, 3, {}), Decision::one_vs_one, 3, random));
    const auto values = values_of(machine, random_rows(5, 3, random));
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(values[k], machine.parts().offsets[k % 3]);
  }
}

TEST(KernelExpansion, IsTheSameForAnyNumberOfThreads) {
  Random random(4);
  for (const Kernel& kernel : all_kernels()) {
    const KernelExpansion machine(
        random_parts(kernel, random_rows(101, 6, random), Decision::one_vs_one, 3, random));
    const Matrix rows = random_rows(1500, 6, random);
    RunControl control;
    control.threads = 1;
    const auto once = values_of(machine, rows, control);
    for (const int threads : {2, 5}) {
      control.threads = threads;
      EXPECT_EQ(values_of(machine, rows, control), once);
    }
    // A row's value depends on nothing else either: not on the rows it comes with.
    const std::vector<Index> tail{1499};
    const auto alone = values_of(machine, rows.select(tail));
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), once.end() - 3));
  }
}

TEST(KernelExpansion, ListsTheSegmentsOfAPair) {
  Random random(5);
  ExpansionParts parts =
      random_parts({}, random_rows(6, 2, random), Decision::one_vs_one, 3, random);
  parts.class_counts = {1, 2, 3};
  const KernelExpansion machine(parts);
  const auto pair = machine.segments(2);  // classes 1 and 2
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_EQ(pair[0].sv_begin, 1);
  EXPECT_EQ(pair[0].sv_end, 3);
  EXPECT_EQ(pair[0].coefficient_begin, 6 + 1);
  EXPECT_EQ(pair[1].sv_begin, 3);
  EXPECT_EQ(pair[1].sv_end, 6);
  EXPECT_EQ(pair[1].coefficient_begin, 6 + 3);
}

TEST(KernelExpansion, VotesAsLibsvm) {
  std::vector<std::int32_t> votes(3);
  const auto winner = [&](std::vector<double> values) {
    return winning_class(Decision::one_vs_one, values, votes);
  };
  EXPECT_EQ(winner({1, 1, 1}), 0);
  EXPECT_EQ(winner({-1, 1, 1}), 1);
  EXPECT_EQ(winner({1, -1, -1}), 2);
  EXPECT_EQ(winner({1, -1, 1}), 0);  // one vote each: the first
  EXPECT_EQ(winner({0, 0, 0}), 2);   // 0 is a vote for the second of the pair
  EXPECT_EQ(winning_class(Decision::single, std::vector<double>{0}, {}), 1);
  EXPECT_EQ(winning_class(Decision::one_vs_rest, std::vector<double>{1, 3, 3}, {}), 1);
}

TEST(KernelExpansion, RefusesPartsThatDoNotFit) {
  Random random(6);
  const auto broken = [&](auto change) {
    ExpansionParts parts =
        random_parts({}, random_rows(6, 2, random), Decision::one_vs_one, 3, random);
    change(parts);
    EXPECT_THROW(KernelExpansion{std::move(parts)}, DataError);
  };
  broken([](ExpansionParts& p) { p.coefficients.pop_back(); });
  broken([](ExpansionParts& p) { p.offsets.push_back(0); });
  broken([](ExpansionParts& p) { ++p.class_counts[0]; });
  broken([](ExpansionParts& p) { p.class_counts = {-1, 1, 6}; });
  broken([](ExpansionParts& p) { p.class_counts.clear(); });
  broken([](ExpansionParts& p) { p.decision = Decision::one_vs_rest; });
  broken([](ExpansionParts& p) { p.coefficients[3] = std::nan(""); });
  broken([](ExpansionParts& p) { p.offsets[0] = std::numeric_limits<double>::infinity(); });
  broken([](ExpansionParts& p) { p.kernel.gamma = -1; });
  broken([](ExpansionParts& p) {
    p.support_vectors = Matrix::dense(6, 1, {1, 2, 3, 4, 5, std::nanf("")});
  });
}

TEST(KernelExpansion, SaysWhenTheKernelOverflows) {
  ExpansionParts parts;
  parts.kernel = {KernelType::polynomial, 1.0, 0.0, 10};
  parts.support_vectors = Matrix::dense(1, 1, {1e30F});
  parts.coefficients = {1};
  parts.offsets = {0};
  EXPECT_THROW(values_of(KernelExpansion(parts), Matrix::dense(1, 1, {1e30F})), DataError);
}

TEST(KernelExpansion, CanBeCancelledAndReports) {
  Random random(7);
  for (const Kernel& kernel : all_kernels()) {
    const KernelExpansion machine(
        random_parts(kernel, random_rows(50, 3, random), Decision::single, 2, random));
    const Matrix rows = random_rows(500, 3, random);
    std::atomic<bool> cancel = true;
    RunControl control;
    control.cancel = &cancel;
    EXPECT_THROW(values_of(machine, rows, control), Cancelled);
  }
  const KernelExpansion machine(
      random_parts({}, random_rows(500, 30, random), Decision::single, 2, random));
  RunControl control;
  double last = 0;
  control.on_progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.phase, "predict");
    last = progress.done_fraction;
  };
  values_of(machine, random_rows(8000, 30, random), control);
  EXPECT_LE(last, 1.0);
}

}  // namespace
}  // namespace tamis
